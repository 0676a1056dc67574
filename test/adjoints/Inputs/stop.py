"""What `stop` stops. Central differences do not see it: numbers by hand."""

from by_hand import check

V = {"v": [3.0], "w": [5.0]}
PARAMS = "data x[T] : real\nparam v, w : vector(1)\n"
X = {"x": [[2.0, -1.0]]}

# d/dv of stop(v) * v is stop(v); nothing flows to w.
check("product", PARAMS + "penalty stop(w[0]) * 3\npenalty stop(v[0]) * v[0]\n", V, X,
      loss=24.0, grad_v=[3.0], grad_w=[0.0])

# Inlined into sums and fused with what reads it: 2 + -1 = 1 times v.
check("inlined", PARAMS + "penalty sum[t](stop(v[0] * x[t]) * v[0])\n", V, X, loss=9.0, grad_v=[3.0])

# The same expression with and without: they are equal, and are not one.
check("shared", PARAMS + """a[t] = tanh(v[0] * x[t])
b[t] = stop(tanh(v[0] * x[t]))
penalty sum[t](b[t])
penalty sum[t](0 * a[t])
""", V, X, grad_v=[0.0])

# Through a named equation and a def; what is stopped may have no slope at all.
check("named", PARAMS + """def keep(a) { r = stop(a); return r }
q[t] = keep(w[0] / (x[t] - 2) + v[0])
penalty sum[t where t == 1](q[t] * v[0])
""", V, X, loss=3 * (3 - 5 / 3), grad_v=[3 - 5 / 3], grad_w=[0.0])

# h[0] = v + 0, h[1] = stop(v) + v x[1]: only the last term.
check("recurrence", PARAMS + """h[t] = stop(h[t-1]) + v[0] * (if t == 0 then 1 else x[t])
h[-1] = 0
penalty h[T-1]
""", V, X, loss=0.0, grad_v=[-1.0])

# Half of a gradient: a * stop(b) + stop(a) * b, with a = v, b = v w.
check("halves", PARAMS + "penalty v[0] * stop(v[0] * w[0]) + stop(v[0]) * (v[0] * w[0])\n", V, X,
      loss=90.0, grad_v=[15.0 + 15.0], grad_w=[9.0])

# All of a vector, in front of a product with weights: (m x) . stop(x) with x = v.
check("vector", """data x[T] : real
param v : vector(2), m : matrix(2, 2)
penalty dot(m @ stop(v), v)
""", {"v": [1.0, 2.0], "m": [[1.0, 2.0], [3.0, 4.0]]}, X,
      loss=27.0, grad_v=[5.0, 11.0], grad_m=[[1.0, 2.0], [2.0, 4.0]])
