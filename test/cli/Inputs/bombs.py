"""bombs.py KIND SIZE: prints a spec of few lines that is much work.

  sums     a product of two sums for each term, in one line
  pairs    sums over the pairs of two indices, in one line
  sorts    each array is sorted from the one before it
  tree     2 ^ SIZE linear layers, as each def holds two of the def before it
  depth    parentheses in parentheses
  indices  a sum over so many indices
"""

import sys


def sums(size):
    terms = [f"sum[a](tanh(x[a] * v[{k % 4}] + {k})) * sum[b](x[b]^2 * v[{(k + 1) % 4}])" for k in range(size)]
    return "data x[S] : real\nparam v : vector(4)\npenalty " + " + ".join(terms)


def pairs(size):
    terms = [f"sum[a](x[a] * x[j] * {k})" for k in range(size)]
    return "data x[S] : real\nparam v : vector(4)\ny[j] = " + " + ".join(terms) + "\npenalty v[0] * sum[j](y[j])"


def sorts(size):
    lines = ["data x : real(16)", "param v : vector(16)", "y0[i] = x[i] * v[i]"]
    lines += [f"y{k} = sort(y{k - 1})" for k in range(1, size)]
    return "\n".join(lines) + f"\npenalty sum[i](y{size - 1}[i] * i)"


def tree(size):
    lines = ["def m0(x[n]) { param a : linear(n)", " return a(x) }"]
    for k in range(1, size + 1):
        lines += [f"def m{k}(x[n]) {{ param a : m{k - 1}, b : m{k - 1}", " return b(a(x)) }"]
    return "\n".join(lines) + f"\ndata x : real(4)\ndata y : real(4)\nparam p : m{size}\ny ~ normal(p(x), 1)"


def depth(size):
    return "param v : vector(4)\npenalty " + "tanh(" * size + "v[0]" + ")" * size


def indices(size):
    names = [f"i{k}" for k in range(size)]
    product = " * ".join(f"x[{name}]" for name in names)
    return f"data x[S] : real\nparam v : vector(4)\npenalty v[0] * sum[{', '.join(names)}]({product})"


print("model bomb")
print(globals()[sys.argv[1]](int(sys.argv[2])))
