"""Small models that the tests share."""

import pytest

import fovea

COPIER = """model copier
dim H = 8
vocab v
data src[S] : sentence of v, tgt[T] : sentence of v
param embed : embedding(H), encode, decoder : gru(H)
param out : linear(v.vocab)
f[i] = encode(f[i-1], embed(src[i]));  f[-1] = zeros(H)
s[t] = decoder(s[t-1], embed(tgt[t-1]) + c[t]);  s[-1] = f[S-1]
align[t] = softmax[i](dot(s[t-1], f[i]))
c[t] = sum[i](align[t,i] * f[i])
tgt[t] ~ categorical(out(s[t]))
train { optimiser = adam, rate = 0.01 }
decode { longest = 6 }
"""

BATCH = {"src": [[3, 4, 1], [5, 1], [4, 4, 3, 1]],
         "tgt": [[3, 4, 1], [5, 1], [4, 4, 3, 1]]}


@pytest.fixture(scope="module")
def copier():
    return fovea.compile(COPIER, sets={"v.vocab": 9}, seed=3, dtype="f64")


@pytest.fixture
def batch():
    return {name: [list(row) for row in rows] for name, rows in BATCH.items()}
