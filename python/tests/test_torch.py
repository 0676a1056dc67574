"""A spec as a layer of PyTorch, against PyTorch's own arithmetic."""

import copy
import threading

import pytest

torch = pytest.importorskip("torch")

import fovea  # noqa: E402
from fovea.torch import Layer  # noqa: E402

ATTENTION = """model attention
dim A = 5, H = 4
data query[T] : real(H), key[S] : real(H)
param q, k : linear(A), v : vector(A)
param forward : linear(H)
align[t] = softmax[i](dot(v, tanh(q(query[t]) + k(key[i]))))
c[t] = sum[i](align[t,i] * forward(key[i]))
last = c[T-1]
"""


def by_hand(layer, query, key, length):
    """The same of one example, whose key has `length` rows."""
    w = dict(layer.named_parameters())
    q = query @ w["q.weight"].T + w["q.bias"]
    k = key[:length] @ w["k.weight"].T + w["k.bias"]
    scores = torch.tanh(q[:, None] + k[None]) @ w["v"]
    values = key[:length] @ w["forward_.weight"].T + w["forward_.bias"]
    return torch.softmax(scores, 1) @ values


@pytest.fixture(scope="module")
def layer():
    return Layer(ATTENTION, "c", seed=3, dtype=torch.float64)


@pytest.fixture
def inputs():
    draw = torch.Generator().manual_seed(7)
    return {"query": torch.randn(2, 3, 4, generator=draw, dtype=torch.float64),
            "key": torch.randn(2, 6, 4, generator=draw, dtype=torch.float64)}


def test_outputs_are_those_of_pytorch(layer, inputs):
    lengths = {"S": torch.tensor([6, 4])}
    c = layer(**inputs, lengths=lengths)
    assert c.shape == (2, 3, 4) and c.dtype == torch.float64
    for example, length in enumerate(lengths["S"]):
        wanted = by_hand(layer, inputs["query"][example], inputs["key"][example],
                         int(length))
        assert torch.allclose(c[example], wanted, atol=1e-12)


def test_gradients_are_those_of_pytorch(layer, inputs):
    lengths = {"S": torch.tensor([6, 4])}
    weight = torch.linspace(-1, 2, 24, dtype=torch.float64).reshape(2, 3, 4)
    tensors = [inputs["query"].requires_grad_(), inputs["key"].requires_grad_(),
               *layer.parameters()]
    ours = torch.autograd.grad(
        (layer(**inputs, lengths=lengths) * weight).sum(), tensors)
    theirs = torch.autograd.grad(
        sum((by_hand(layer, inputs["query"][i], inputs["key"][i], length) *
             weight[i]).sum() for i, length in enumerate((6, 4))), tensors)
    for one, other in zip(ours, theirs):
        assert torch.allclose(one, other, atol=1e-12)
    # Nothing past the end of an example is looked at.
    assert (ours[1][1, 4:] == 0).all() and (ours[1][1, :4] != 0).all()


def test_gradcheck(layer, inputs):
    lengths = {"S": torch.tensor([6, 4])}
    weights = [parameter for parameter in layer.parameters()]
    assert torch.autograd.gradcheck(
        lambda query, key, *_: layer(query=query, key=key, lengths=lengths),
        (inputs["query"].requires_grad_(), inputs["key"].requires_grad_(), *weights))


def test_second_derivatives_are_refused():
    cube = Layer("model m\ndim D = 3\ndata x[T] : real(D)\nparam w : vector(D)\n"
                 "y[t] = dot(x[t], w)^3\n", "y", dtype=torch.float64)
    x = torch.tensor([[[1.0, 2, 3]]], dtype=torch.float64, requires_grad=True)
    slope, = torch.autograd.grad(cube(x=x).sum(), x, create_graph=True)
    # First derivatives are right, recorded or not.
    wanted = 3 * (x[0, 0] @ cube.w) ** 2 * cube.w
    assert torch.allclose(slope[0, 0], wanted)
    # Their gradient is not a gradient of zeros.
    assert slope.requires_grad
    with pytest.raises(fovea.SpecError, match="the layer 'm' has no second derivatives"):
        slope.pow(2).sum().backward()


def test_several_outputs_and_tokens():
    two = Layer("""model two
dim H = 3
data word[S] : token of ids(7), x : real(H)
vocab v
param e : embedding(H)
h[i] = e(word[i]) * x
mean_h = mean[i](h[i])
twice[i < S + 1] = if i < S then h[i] * 2 else x
""".replace("token of ids(7)", "token of v").replace("vocab v", "vocab v : ids(7)"),
                ["h", "twice", "mean_h"], dtype=torch.float64)
    word, x = torch.tensor([[1, 6, 0], [2, 2, 5]]), torch.randn(2, 3).double()
    x.requires_grad_()
    lengths = {"S": torch.tensor([3, 2])}
    h, twice, mean = two(word=word, x=x, lengths=lengths)
    e = two.get_parameter("e.weight")
    assert torch.equal(h[0], e[word[0]] * x[0]) and (h[1, 2] == 0).all()
    assert twice.shape == (2, 4, 3) and torch.equal(twice[1, 2], x[1])
    assert torch.allclose(mean[1], h[1, :2].mean(0))
    assert torch.autograd.gradcheck(
        lambda x, e: two(word=word, x=x, lengths=lengths), (x, e))
    # An output that nobody uses has no gradient.
    mean[0].sum().backward()
    assert torch.allclose(x.grad[0], e[word[0]].mean(0)) and (x.grad[1] == 0).all()


def test_only_what_by_names_has_gradients(inputs):
    layer = Layer(ATTENTION, "c", dtype=torch.float64, by=["key"])
    for parameter in layer.parameters():
        parameter.requires_grad_(False)
    query, key = (inputs[name].requires_grad_() for name in ("query", "key"))
    layer(query=query, key=key).sum().backward()
    assert query.grad is None and (key.grad != 0).all()
    query.grad, key.grad = None, None
    layer(query=query, key=key.detach()).sum().backward()
    assert query.grad is None


def test_a_model_with_a_layer_learns(inputs):
    torch.manual_seed(0)
    layer = Layer(ATTENTION, "last", seed=1)
    model = torch.nn.ModuleDict({"before": torch.nn.Linear(4, 4), "layer": layer,
                                 "after": torch.nn.Linear(4, 1)})
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    query, key = inputs["query"].float(), inputs["key"].float()
    losses = []
    for _ in range(60):
        optimiser.zero_grad()
        last = model["layer"](query=query, key=model["before"](key))
        loss = ((model["after"](last)[:, 0] - torch.tensor([1.0, -1.0])) ** 2).sum()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 1e-3 < losses[0]


def test_weights_of_others(layer, inputs):
    kept = copy.deepcopy(layer.state_dict())
    assert set(kept) == {"q.weight", "q.bias", "k.weight", "k.bias", "v",
                         "forward_.weight", "forward_.bias"}
    before = layer(**inputs)
    # A copy has weights of its own.
    again = copy.deepcopy(layer)
    assert torch.equal(again(**inputs), before)
    with torch.no_grad():
        again.v += 1
    assert not torch.equal(again(**inputs), before)
    assert torch.equal(layer(**inputs), before)
    # Others take the places of the weights for one call.
    other = torch.func.functional_call(layer, {"v": again.v}, (), inputs)
    assert torch.equal(other, again(**inputs))
    assert torch.equal(layer(**inputs), before)
    again.load_state_dict(kept)
    assert torch.equal(again(**inputs), before)


def test_dropout_is_that_of_training():
    layer = Layer("model d\ndim H = 50\ndata x : real(H)\nparam f : linear(H)\n"
                  "y = dropout(f(x), 0.5)\n", "y")
    x = torch.randn(3, 50, requires_grad=True)
    torch.manual_seed(5)
    first = layer(x=x)
    second = layer(x=x)
    torch.manual_seed(5)
    assert torch.equal(layer(x=x), first) and not torch.equal(first, second)
    # Backward drops what forward dropped.
    (bias,) = torch.autograd.grad(first[0].sum(), [layer.get_parameter("f.bias")])
    assert torch.equal(bias != 0, first[0] != 0)
    layer.eval()
    assert torch.equal(layer(x=x), layer(x=x)) and (layer(x=x) != 0).all()


def test_threads(layer, inputs):
    wanted, found = layer(**inputs), []

    def work():
        for _ in range(20):
            found.append(torch.equal(layer(**inputs), wanted))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80 and all(found)


def test_compiled_functions_have_the_same_bits(layer, inputs):
    lengths = {"S": torch.tensor([6, 4])}
    tensors = [inputs["query"].requires_grad_(), inputs["key"].requires_grad_(),
               *layer.parameters()]

    def loss(query, key, size):
        return layer(query=query, key=torch.tanh(key), lengths={"S": size}).pow(2).sum()
    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    ours, theirs = (torch.autograd.grad(
        function(inputs["query"], inputs["key"], lengths["S"]), tensors)
        for function in (loss, compiled))
    assert all(torch.equal(one, other) for one, other in zip(ours, theirs))
    # Another number of examples.
    more = [torch.cat([tensor, tensor[:1]]) for tensor in tensors[:2]]
    size = torch.tensor([6, 4, 2])
    assert torch.equal(loss(*more, size), compiled(*more, size))


def test_compiled_dropout_is_drawn_in_each_call():
    layer = Layer("model d\ndim H = 50\ndata x : real(H)\ny = dropout(x, 0.5)\n", "y")
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    x = torch.ones(3, 50)
    torch.manual_seed(5)
    first, second = compiled(x=x), compiled(x=x)
    torch.manual_seed(5)
    assert torch.equal(layer(x=x), first) and not torch.equal(first, second)


def test_export(layer, inputs):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = copy.deepcopy(layer).eval()

        def forward(self, query, key):
            return 2 * self.layer(query=query, key=key)
    model = Model()
    examples = torch.export.Dim("examples")
    exported = torch.export.export(model, (inputs["query"], inputs["key"]),
                                   dynamic_shapes=({0: examples}, {0: examples}))
    more = [torch.cat([inputs[name], inputs[name]]) for name in ("query", "key")]
    assert torch.equal(exported.module()(*more), model(*more))


def test_functions_of_functions(layer, inputs):
    query, key = inputs["query"], inputs["key"]
    weights = {name: weight.detach() for name, weight in layer.named_parameters()}

    def loss(weights, query, key):
        return torch.func.functional_call(
            layer, weights, (), {"query": query, "key": key}).pow(2).sum()
    ours = torch.func.grad(loss)(weights, query, key)
    theirs = torch.autograd.grad(layer(query=query, key=key).pow(2).sum(),
                                 list(layer.parameters()))
    for (name, one), other in zip(ours.items(), theirs):
        assert torch.equal(one, other), name
    # Gradients of each example, from one call for all.
    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0),
                           randomness="same")(weights, query[:, None], key[:, None])
    for name, one in each.items():
        assert torch.allclose(one.sum(0), ours[name], atol=1e-12), name


def test_autocast(inputs):
    layer = Layer(ATTENTION, "c", seed=3)
    before = torch.nn.Linear(4, 4)
    query, key = inputs["query"].float(), inputs["key"].float()
    with torch.autocast("cpu", torch.bfloat16):
        key = before(key)
        assert key.dtype == torch.bfloat16
        c = layer(query=query, key=key)
    assert torch.equal(c, layer(query=query, key=key.float()))
    c.sum().backward()
    assert (before.weight.grad != 0).any() and (layer.v.grad != 0).any()


@pytest.mark.parametrize("change, message", [
    ({"query": None}, "'attention' is given key, query; 'query' is missing"),
    ({"z": torch.zeros(1)}, "'attention' is given key, query, and no 'z'"),
    ({"query": torch.zeros(2, 3, 5).double()},
     r"'query' is \[2, T, H = 4\], not \[2, 3, 5\]"),
    ({"query": torch.zeros(2, 3, 4)}, "'query' is torch.float32 on cpu; the layer "
     "takes torch.float64 on the CPU"),
    ({"lengths": {"R": torch.tensor([1, 1])}}, "'attention' has no length 'R'; there "
     "are T, S"),
    ({"lengths": {"S": torch.tensor([1, 7])}}, "the lengths 'S' are 2 numbers of at "
     r"most 6, not \[1, 7\]"),
])
def test_mistakes_of_a_call(layer, inputs, change, message):
    given = {name: value for name, value in {**inputs, **change}.items()
             if value is not None}
    with pytest.raises(fovea.SpecError, match=message):
        layer(**given)


def test_wrong_arguments(layer, inputs):
    for change in [{"seed": 2**63}, {"seed": 1.5}, {"threads": -1}, {"threads": 2**31},
                   {"dtype": torch.int64}, {"dtype": "f32"}, {"dtype": None},
                   {"outputs": []}, {"outputs": 3}, {"outputs": "c\0"}, {"by": "key"},
                   {"by": [3]}, {"sets": ["H"]}, {"spec": None}]:
        with pytest.raises(fovea.SpecError):
            Layer(**{"spec": ATTENTION, "outputs": "c", **change})
            pytest.fail(f"a layer takes {change}")
    for change in [{"lengths": {"S": torch.tensor([2.7, 3])}},
                   {"lengths": {"S": [2, 3]}}, {"lengths": torch.tensor([2, 3])},
                   {"lengths": {"S": torch.tensor([True, True])}},
                   {"lengths": {"S": torch.tensor(2)}}, {"key": [[1.0]]}]:
        with pytest.raises(fovea.SpecError):
            layer(**{**inputs, **change})
            pytest.fail(f"a call takes {change}")


def test_bits_are_those_of_every_example():
    counts = Layer("model m\ndata b[S] : bit\ny = sum[i](if b[i] then 1 else 0)\n", "y")
    bits = torch.tensor([[0, 1, 1], [1, 0, 0], [0, 0, 0]], dtype=torch.bool)
    assert torch.equal(counts(b=bits), bits.sum(1).float())


def test_mistakes_of_a_spec():
    with pytest.raises(fovea.SpecError, match="no equation of 'attention' is called "
                                              "'d'; there are align, c"):
        Layer(ATTENTION, "d")
    with pytest.raises(fovea.SpecError, match="'attention' has an objective"):
        Layer(ATTENTION + "penalty sum[t](dot(c[t], c[t]))\n", "c")
    with pytest.raises(fovea.SpecError, match="'S' is no real data of 'attention'"):
        Layer(ATTENTION, "c", by=["S"])
