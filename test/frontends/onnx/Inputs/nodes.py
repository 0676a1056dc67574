"""Checks what `fovea check` says of models of one node.

  nodes.py FILE PROTO   each line `Op INPUT.. NAME=VALUE.. => MESSAGE` of FILE

An input is `x[N,3]`, of floats, or `x:7[3]` of another type, or `x:7={1,2}`, a
constant, or `x`, which nothing gives, or `""`, which is left out. An attribute
is a number, a list, a text, or a tensor, `tensor{dims:0,data_type:1}`. `->2`
asks for two outputs.
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def attribute(name, value):
    if value.startswith("["):
        numbers = " ".join(f"ints: {x}" for x in value.strip("[]").split(",") if x)
        return f'attribute {{ name: "{name}" type: INTS {numbers} }}'
    if value.startswith("tensor"):
        return f'attribute {{ name: "{name}" type: TENSOR t {value[6:]} }}'
    if re.fullmatch(r"-?\d+", value):
        return f'attribute {{ name: "{name}" type: INT i: {value} }}'
    return f'attribute {{ name: "{name}" type: STRING s: "{value}" }}'


def model(text):
    op, *words = text.split()
    node, graph, outputs = [f'op_type: "{op}" name: "n"'], [], 1
    for word in words:
        constant = re.fullmatch(r"(\w+):(\d+)=\{(.*)\}", word)
        given = re.fullmatch(r"(\w+)(?::(\d+))?\[(.*)\]", word)
        if constant:
            name, kind, numbers = constant.groups()
            numbers = [x for x in numbers.split(",") if x]
            field = {"1": "float_data", "7": "int64_data"}.get(kind, "int32_data")
            values = " ".join(f"{field}: {x}" for x in numbers)
            graph.append(f'initializer {{ name: "{name}" data_type: {kind} '
                         f'dims: {len(numbers)} {values} }}')
        elif given and "=" not in word:
            name, kind, sizes = given.groups()
            shape = " ".join(
                f"dim {{ dim_value: {x} }}" if re.fullmatch(r"-?\d+", x)
                else f'dim {{ dim_param: "{x}" }}' for x in sizes.split(",") if x)
            graph.append(f'input {{ name: "{name}" type {{ tensor_type {{ elem_type: '
                         f'{kind or 1} shape {{ {shape} }} }} }} }}')
        elif word.startswith("->"):
            outputs = int(word[2:])
            continue
        elif "=" in word:
            node.append(attribute(*word.split("=", 1)))
            continue
        else:
            name = word.strip('"')
        node.append(f'input: "{name}"')
    node += [f'output: "y{i}"' for i in range(outputs)]
    return ('opset_import { version: 18 } graph { name: "g" node { ' +
            " ".join(node) + " } " + " ".join(graph) + ' output { name: "y0" } }')


def main():
    file, folder = sys.argv[1:]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name, "m.onnx")
        for line in pathlib.Path(file).read_text().splitlines():
            if " => " not in line:
                continue
            text, message = line.split(" => ")
            sets = re.findall(r"--set \S+", text)
            text = re.sub(r"--set \S+", "", text)
            path.write_bytes(subprocess.run(
                ["protoc", "-I", folder, "--encode=fovea.onnx.schema.ModelProto",
                 "onnx.proto"], input=model(text).encode(), capture_output=True,
                check=True).stdout)
            done = subprocess.run(["fovea", "check", "m.onnx", *" ".join(sets).split()],
                                  cwd=name, capture_output=True, text=True)
            if done.returncode != 1 or f"error: {message}\n" != done.stderr:
                failures += 1
                print(f"{line}\n  ends with {done.returncode}: {done.stdout[:200]}"
                      f"{done.stderr}")
    sys.exit(failures > 0)


main()
