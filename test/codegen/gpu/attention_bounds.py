"""Fails if attention is slow on paper.

    attention_bounds.py FILE.json HEAD PLACES FORWARD BACKWARD

`fovea bench --json` made the file, for 8 heads of HEAD numbers over PLACES places, with a disassembler. FORWARD and
BACKWARD: the TFLOP/s that bounds must allow at least. Two products count forward and five backward, as others do.
"""

import json
import sys

HEADS = 8


def kernelsIn(report):
    """The list of kernels, wherever it stands in the report."""
    if isinstance(report, dict) and isinstance(report.get("kernels"), list):
        return report["kernels"]
    parts = report.values() if isinstance(report, dict) else report if isinstance(report, list) else []
    return next((found for found in map(kernelsIn, parts) if found), None)


def main(path, head, places, forward, backward):
    with open(path) as file:
        strips = [each for each in kernelsIn(json.load(file)) if ".strips." in each["kernel"]]
    assert len(strips) == 3, strips
    product = 2 * HEADS * int(head) * int(places) ** 2
    for name, products, least, own in (("forward", 2, forward, [each for each in strips if ".d_" not in each["kernel"]]),
                                       ("backward", 5, backward, [each for each in strips if ".d_" in each["kernel"]])):
        assert own and all(each["issue_us"] > 0 for each in own), f"nobody counted instructions of {own}"
        rate = products * product / sum(each["least_us"] for each in own) * 1e-6
        issue, functions, tensor = (sum(each.get(key, 0) for each in own) for key in ("issue_us", "functions_us", "tensor_us"))
        print(f"{name}: {rate:.0f} TFLOP/s at most; issue {issue:.0f} us, functions {functions:.0f} us, "
              f"tensor cores {tensor:.0f} us, {sum(each['spilled_bytes'] for each in own)} bytes spilled")
        assert rate >= float(least), f"{name}: at most {rate:.0f} TFLOP/s, of {least}"


if __name__ == "__main__":
    main(*sys.argv[1:])
