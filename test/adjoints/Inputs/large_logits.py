"""Logits that are large beside their differences: what matters is a difference
of logits, and it is not lost. Logits n * (1, 1, 0.9) give 1/2, 1/2 and nearly 0."""

from math import log

from by_hand import check

HEAD = "data x[S] : real\ndata y : class(3)\nparam b : vector(3)\n"
B = {"b": [1.0, 1.0, 0.5]}
half = log(2)


def logits(number, text, **expected):
    check("logits", HEAD + text, B, {"x": [[number]], "y": [0]}, **expected)


for n in 1e2, 1e4, 1e6, 1e8, 1e12:
    gradient = [-n / 2, n / 2, 0.0]
    logits(n, "y ~ categorical(x[0] * b)\n", loss=half, grad_b=gradient)
    logits(n, "y ~ categorical(probs = softmax(x[0] * b))\n", loss=half, grad_b=gradient)
    logits(n, "z = log_softmax(x[0] * b)\npenalty 0 - z[0]\n", gets=["z"],
           z=[[-half, -half, -n / 2 - half]], grad_b=gradient)
    # (1 - s) log p(y) + s mean(log p), with s = 0.3: log p = -log 2, -log 2, -n / 2 - log 2.
    logits(n, "y ~ categorical(x[0] * b)\ntrain { smooth = 0.3 }\n", loss=half + 0.1 * n / 2,
           grad_b=[-0.8 * n + n / 2, -0.1 * n + n / 2, -0.1 * n])
    # A range of two indices.
    logits(n, "z[i < 1, k < 3] = log_softmax[i, k](x[i] * b[k])\npenalty 0 - z[0, 0]\n", loss=half, grad_b=gradient)
    # Of a sigmoid: log(1 + exp(-n)) and nothing.
    check("bit", "data x[S] : real\ndata y : bit\nparam b : vector(1)\ny ~ bernoulli(logit = x[0] * b[0])\n",
          {"b": [1.0]}, {"x": [[n]], "y": [1]}, loss=0.0, grad_b=[0.0])

# A mixture's weights are a softmax of logits, and so are shares of a logsumexp.
for n in 1e2, 1e6, 1e8:
    logits(n, "z[k < 3] = x[0] * b[k]\npenalty logsumexp[k](z[k]) - z[0]\n", grad_b=[-n / 2, n / 2, 0.0])
