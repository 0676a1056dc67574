"""Specs that name a dictionary.

  beside.py SPEC FILE                    writes one that names FILE
  beside.py stranger FROM TO FILE        copies weights, whose spec then names FILE, and carries no file
"""

import json
import sys

text = """model m
vocab v : ids(8)
data src[S] : sentence of v, tgt[T] : sentence of v
param emb : embedding(2), out : linear(v.vocab)
align[t] = softmax[i](emb(tgt[t-1])[0] * emb(src[i])[0])
tgt[t] ~ categorical(out(sum[i](align[t,i] * emb(src[i]))))
decode { unknown = replace(align, dictionary = "%s") }
"""
if sys.argv[1] != "stranger":
    with open(sys.argv[1], "w") as file:
        file.write(text % sys.argv[2])
else:
    with open(sys.argv[2], "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    about = header["__metadata__"]
    del about["fovea.checksum"]
    spec = json.loads(about["spec"])
    spec["text"], spec["files"] = text % sys.argv[4], {}
    about["spec"] = json.dumps(spec)
    header = json.dumps(header).encode()
    with open(sys.argv[3], "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + data)
