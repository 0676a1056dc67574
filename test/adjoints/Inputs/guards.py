"""Gradients under guards that read data: what nobody looks at adds nothing."""

from math import e, exp, inf, log, sqrt

from by_hand import check

PARAMS = "data x[T] : real\ndata m[T] : bit\nparam w : vector(1)\n"
W = {"w": [3.0]}
BATCH = {"x": [[2.0, 0.0, -4.0, 0.0]], "m": [[1, 1, 0, 0]]}
inverse = 1 / 2 - 1 / 4  # the sum of 1 / x over x != 0


def guarded(name, text, weights=W, **expected):
    check(name, PARAMS + text, weights, BATCH, **expected)


guarded("branch", "b[t] = if x[t] != 0 then w[0] / x[t] else 0\npenalty sum[t](b[t])\n",
        loss=3 * inverse, grad_w=[inverse])
guarded("second_branch", "b[t] = if x[t] == 0 then w[0] else w[0] / x[t]\npenalty sum[t](b[t])\n",
        loss=6 + 3 * inverse, grad_w=[2 + inverse])
guarded("where", "penalty sum[t where x[t] != 0](w[0] / x[t])\n", loss=3 * inverse, grad_w=[inverse])
guarded("square_root", "penalty sum[t where x[t] > 0](sqrt(w[0] * x[t]))\n", loss=sqrt(6), grad_w=[1 / sqrt(6)])
guarded("logarithm", "penalty sum[t where x[t] > 0](log(w[0] * x[t]))\n", loss=log(6), grad_w=[1 / 3])
guarded("power", "penalty sum[t where x[t] > 0](x[t]^w[0])\n", loss=8.0, grad_w=[8 * log(2)])

# exp(x w) overflows where nobody looks, in f32 and f64.
check("exponential", PARAMS + "penalty sum[t where x[t] < 10](exp(x[t] * w[0]))\n", {"w": [1.0]},
      {"x": [[1.0, 1000.0]], "m": [[1, 1]]}, loss=e, grad_w=[e])

# The guard of an equation, or of one that reads another.
guarded("named", "q[t] = w[0] / x[t]\nr[t] = 2 * q[t]\npenalty sum[t where x[t] != 0](r[t] * w[0])\n",
        loss=18 * inverse, grad_w=[12 * inverse])
guarded("guard_is_an_equation", """ok[t] = x[t] != 0
b[t] = if ok[t] then w[0] / x[t] else 0
penalty sum[t](b[t])
""", loss=3 * inverse, grad_w=[inverse])

# What is asked for is there, and infinite; the gradient is the same.
guarded("asked_for", "q[t] = w[0] / x[t]\npenalty sum[t where x[t] != 0](q[t])\n",
        gets=["q"], loss=3 * inverse, grad_w=[inverse], q=[[1.5, inf, -0.75, inf]])

# So it is for what is built on it, read with a guard or by nothing but a result.
guarded("asked_for_reader", """q[t] = w[0] / x[t]
e[t] = 2 * q[t]
f[t] = e[t] + 1
b[t] = if x[t] != 0 then e[t] * w[0] else 0
penalty sum[t](b[t])
""", gets=["e", "f"], loss=18 * inverse, grad_w=[12 * inverse], e=[[3, inf, -1.5, inf]], f=[[4, inf, -0.5, inf]])
guarded("asked_for_recurrence", """q[t] = w[0] / x[t]
h[t] = 0.5 * h[t-1] + (if x[t] != 0 then 2 * q[t] else 0)
h[-1] = 0
penalty h[T-1]
""", gets=["q", "h"], loss=-3 / 4 + 3 / 8, grad_w=[-1 / 4 + 1 / 8], q=[[1.5, inf, -0.75, inf]], h=[[3, 1.5, -0.75, -0.375]])

# Under two guards, each needed: the quotient by m, the logarithm by x as well.
guarded("nested", "penalty sum[t](if m[t] then (if x[t] > 0 then log(x[t] * w[0]) else w[0]) else 0)\n",
        loss=log(6) + 3, grad_w=[1 / 3 + 1])
guarded("both", "penalty sum[t where m[t] and x[t] != 0](w[0] / x[t])\n", loss=1.5, grad_w=[0.5])
# Two guards that look at different places of one equation.
guarded("either", """q[t] = w[0] / x[t]
penalty sum[t where x[t] > 0](q[t]) + sum[t where x[t] < 0](2 * q[t])
""", loss=3 * (1 / 2 - 1 / 2), grad_w=[0.0])
# A logarithm that only a where without places looks at, and one with some.
guarded("nowhere", """s = w[0] * sum[t](max(x[t] - 5, 0))
penalty sum[t where x[t] > 5](log(s) * x[t]) + w[0]
""", loss=3.0, grad_w=[1.0])
guarded("somewhere", """s = w[0] * sum[t](max(x[t], 0))
penalty sum[t where x[t] > 0](log(s) * x[t])
""", loss=2 * log(6), grad_w=[2 / 3])
guarded("shifted", """q[t] = w[0] / x[t]
penalty sum[t where t > 0 and x[t] == 0 and m[t]](q[t-1])
""", loss=1.5, grad_w=[0.5])

# In calls: what the def computes, and a guard inside it.
guarded("call", """def over(a, b) { r = a / b; return 2 * r }
b[t] = if x[t] != 0 then over(w[0], x[t]) else 0
penalty sum[t](b[t])
""", loss=6 * inverse, grad_w=[2 * inverse])
guarded("guard_in_call", """def over(a, b) = if b != 0 then a / b else 0
penalty sum[t](over(w[0], x[t]))
""", loss=3 * inverse, grad_w=[inverse])

# Of reducers: only what takes part. w / x is 1.5 and -0.75.
guarded("max", "penalty max[t where x[t] != 0](w[0] / x[t])\n", loss=1.5, grad_w=[0.5])
guarded("min", "penalty min[t where x[t] != 0](w[0] / x[t])\n", loss=-0.75, grad_w=[-0.25])
guarded("mean", "penalty mean[t where x[t] != 0](w[0] / x[t])\n", loss=1.5 * inverse, grad_w=[inverse / 2])
p = 1 / (1 + exp(-2.25))  # of the softmax of 1.5 and -0.75
guarded("logsumexp", "penalty logsumexp[t where x[t] != 0](w[0] / x[t])\n",
        loss=log(exp(1.5) + exp(-0.75)), grad_w=[p / 2 - (1 - p) / 4])
guarded("softmax", "a[t] = softmax[t where x[t] != 0](w[0] / x[t])\npenalty a[0]\n",
        loss=p, grad_w=[p * (1 - p) * 0.75])

# In a recurrence whose guard is of its own past: h = 3 / 2 - 0, 3 / 1.5 - 2 = 0,
# and stays there.
check("recurrence", """data x[T] : real
param w : vector(1)
h[t] = if h[t-1] != 0 then w[0] / h[t-1] - x[t] else 0
h[-1] = 2
penalty h[0] + h[T-1]
""", W, {"x": [[0.0, 2.0, 0.0, 1.0]]}, loss=1.5, grad_w=[0.5])
# s[0] = w / 2 (x = 2); x[1] = 0 keeps it; s[2] = s / -4; x[3] = 0 keeps it.
guarded("step", """s[t] = if x[t] != 0 then s[t-1] / x[t] else s[t-1]
s[-1] = w[0]
penalty s[T-1]
""", loss=-3 / 8, grad_w=[-1 / 8])

# Parts of vectors, and vectors in parts.
guarded("joined", """b[t] = if x[t] != 0 then w ++ (w / x[t]) else zeros(2)
penalty sum[t](b[t, 0] + 2 * b[t, 1])
""", loss=6 + 6 * inverse, grad_w=[2 + 2 * inverse])
check("folded", """data x[T] : real
param v : vector(4)
b[t] = if x[t] != 0 then fold(v / x[t], 2) else fold(zeros(4), 2)
penalty sum[t](b[t, 0, 1] + 2 * b[t, 1, 0])
""", {"v": [1.0, 2.0, 3.0, 4.0]}, {"x": [[2.0, 0.0, -4.0]]}, loss=8 * inverse,
      grad_v=[0.0, inverse, 2 * inverse, 0.0])

# Vectors, and a product with weights after them.
check("vectors", """data x[T] : real
param v : vector(2), m : matrix(2, 2)
b[t] = if x[t] != 0 then m @ (v / x[t]) else zeros(2)
penalty sum[t](b[t, 0] + b[t, 1])
""", {"v": [1.0, 2.0], "m": [[1.0, 2.0], [3.0, 4.0]]}, {"x": [[2.0, 0.0, -4.0]]},
      loss=(1 + 4 + 3 + 8) * inverse, grad_v=[4 * inverse, 6 * inverse],
      grad_m=[[inverse, 2 * inverse], [inverse, 2 * inverse]])
