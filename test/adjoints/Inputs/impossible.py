"""Scores that are -infinity, up to all of them: no path leads anywhere."""

from math import exp, inf, log

from by_hand import check

PARAMS = "data x[T] : real\ndata m[T] : bit\nparam w : vector(1)\n"
SCORE = "(if m[t] then w[0] * x[t] else -inf)"
X = [[float(t % 3) for t in range(20)]] * 2  # more than a vector, and no multiple of one
NONE = {"x": X, "m": [[0] * 20, [0] * 20]}
# In the first example nothing is possible; in the second t = 1 and t = 2, with x = 1 and 2.
SOME = {"x": X, "m": [[0] * 20, [0, 1, 1] + [0] * 17]}
W = {"w": [0.5]}
a, b = exp(0.5), exp(1.0)
p = b / (a + b)


def scored(name, text, data, **expected):
    check(name, PARAMS + text, W, data, **expected)


# The mean over two examples.
scored("nothing", f"penalty exp(logsumexp[t]{SCORE})\n", NONE, loss=0.0, grad_w=[0.0])
scored("something", f"penalty exp(logsumexp[t]{SCORE})\n", SOME, loss=(a + b) / 2, grad_w=[(a + 2 * b) / 2])
scored("no_value", f"a = logsumexp[t]{SCORE}\npenalty 0\n", NONE, gets=["a"], gradients=False, a=[-inf, -inf])
scored("softmax", f"a[t] = softmax[t]{SCORE}\npenalty a[2] ?? 0\n", SOME, gets=["a"], loss=p / 2,
       grad_w=[p * (1 - p) / 2], a=[[0.0] * 20, [0.0, 1 - p, p] + [0.0] * 17])
scored("no_softmax", f"a[t] = softmax[t]{SCORE}\npenalty sum[t](a[t] * w[0])\n", NONE, loss=0.0, grad_w=[0.0])
scored("log_softmax", f"a[t] = log_softmax[t]{SCORE}\npenalty sum[t where m[t]](a[t])\n", SOME, gets=["a"],
       loss=(log(p) + log(1 - p)) / 2, grad_w=[(3 - 2 * (1 + p)) / 2],
       a=[[-inf] * 20, [-inf, log(1 - p), log(p)] + [-inf] * 17])
scored("largest", f"penalty exp(max[t]{SCORE})\n", SOME, loss=b / 2, grad_w=[b])

# Rows of a table, in lanes of a vector or not, and two indices of one range.
TABLE = """data m[T] : bit
param v : vector(24)
a[t, k] = softmax[k < 24](if m[t] then v[k] else -inf)
penalty sum[t](a[t, 0])
"""
V = {"v": [0.0] * 24}
check("rows", TABLE, V, {"m": [[0, 1, 0]]}, loss=1 / 24, grad_v=[23 / 576] + [-1 / 576] * 23)
check("plane", """data m[T] : bit
param v : vector(24)
a[t, k] = softmax[t, k < 24](if m[t] then v[k] else -inf)
penalty sum[t](a[t, 0])
""", V, {"m": [[0, 1, 0]]}, loss=1 / 24, grad_v=[23 / 576] + [-1 / 576] * 23)
check("no_plane", """data m[T] : bit
param v : vector(24)
a[t, k] = softmax[t, k < 24](if m[t] then v[k] else -inf)
penalty sum[t](a[t, 0]) + v[1]
""", V, {"m": [[0, 0, 0]]}, loss=0.0, grad_v=[0.0, 1.0] + [0.0] * 22)

# Connectionist temporal classification of one symbol: state 1 is where it has
# begun, and it goes on to the end. p(symbol) = s at both steps; before the first
# state 1 is impossible. (1 - s) s + s s = s.
s = 1 / (1 + exp(-1.0))
check("path", """data x[T] : real
param w : vector(2)
y[t, k] = log_softmax[k < 2](w[k] * x[t])
al[t, j] = logsumexp[i < 2 where i <= j](al[t-1, i]) + y[t, j]
al[-1, j] = if j == 0 then 0 else -inf
penalty 0 - al[T-1, 1]
""", {"w": [0.0, 1.0]}, {"x": [[1.0, 1.0]]}, loss=-log(s), grad_w=[1 - s, s - 1])
# Three symbols in a row do not fit into two steps.
LONG = """data x[T] : real
param w : vector(4)
y[t, k] = log_softmax[k < 4](w[k] * x[t])
al[t, j] = logsumexp[i < 2](if i <= j then al[t-1, j-i] else -inf) + y[t, j]
al[-1, j] = if j == 0 then 0 else -inf
penalty exp(al[T-1, 3]) + w[0]
"""
check("no_path", LONG, {"w": [1.0, 0.0, 0.0, 0.0]}, {"x": [[1.0, 1.0]]}, loss=1.0, grad_w=[1.0, 0.0, 0.0, 0.0])
