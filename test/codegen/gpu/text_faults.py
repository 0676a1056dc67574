"""Plants faults in the PTX of a product by groups of warps, and counts those that the emulator sees.

    text_faults.py WORK_DIRECTORY

The product has copies by one instruction, and two blocks in a cluster. A fault is an edit of the text. It is seen
if the emulator refuses the text, if a kernel fails, or if the result has other bits than without the edit.
"""

import os
import random
import subprocess
import sys

import same_bits  # noqa: F401 (finds `tensors`)
from tensors import Tensor, write

SPEC = """model product
dim K = 260, N = 300
data x[S] : real(K)
param w : matrix(N, K)
y[i,n] = sum[k](w[n,k] * x[i,k])
"""
FAULTS = {
    "sums are overwritten": "setp.ne.b32 adds, 1, 0;=>setp.ne.b32 adds, 0, 0;",
    "copies do not see barriers": "fence.mbarrier_init.release.cluster;=>",
    "a warp comes to its cluster in parts": "bar.warp.sync \t-1;=>",
    "a barrier of seven warps": "shl.b32 \t%r4, %r5, 3;=>mul.lo.s32 \t%r4, %r5, 7;",
    "products without a fence": "wgmma.fence.sync.aligned;=>",
    "products that are not committed": "wgmma.commit_group.sync.aligned;=>",
    "products that nobody awaits": "wgmma.wait_group.sync.aligned 0;=>",
    "products on their way": "wgmma.wait_group.sync.aligned 0;=>wgmma.wait_group.sync.aligned 1;",
    "nobody awaits a phase": "@!ended bra again;=>",
    "no block arrives": "mbarrier.arrive.shared::cluster.b64 _, [there];=>",
    "nobody waits for the cluster": "barrier.cluster.wait;=>",
    "nobody arrives at the cluster": "barrier.cluster.arrive;=>",
    "other rounding": "cvt.rn.bf16x2.f32=>cvt.rz.bf16x2.f32",
    "a side without a swizzle": "4611686293305360384=>274877972480",
    "halves change places": "cvt.rn.bf16x2.f32 \t%r12, %r9, %r8=>cvt.rn.bf16x2.f32 \t%r12, %r8, %r9",
}


def main():
    work = sys.argv[1]
    os.makedirs(work, exist_ok=True)
    draw = random.Random(1)
    spec, weights, inputs, out = (os.path.join(work, name) for name in ("p.fov", "w.safetensors", "x.safetensors", "y"))
    with open(spec, "w") as file:
        file.write(SPEC)

    def tensor(*shape):
        size = 1
        for extent in shape:
            size *= extent
        return Tensor("F64", list(shape), [draw.uniform(-1, 1) for _ in range(size)])

    write(weights, {"w": tensor(300, 260)})
    write(inputs, {"x": tensor(1, 150, 260), "x.length": Tensor("I64", [1], [150])})

    def run(**environment):
        command = ["fovea", "run", spec, "--weights", weights, "--data", inputs, "--quiet", "--get", "y", "-o", out,
                   "--target", "cuda", "--precision", "bf16"]
        done = subprocess.run(command, capture_output=True, text=True, env={
            **os.environ, "FOVEA_EMULATOR_CAPABILITY": "90", "FOVEA_EMULATOR_SCHEDULE": "descending", **environment})
        if done.returncode != 0:
            return done.stderr.strip().splitlines()[-1]
        with open(out, "rb") as file:
            return file.read()

    expected = run()
    assert isinstance(expected, bytes), expected
    seen = 0
    for name, edit in FAULTS.items():
        found = run(FOVEA_EMULATOR_EDIT=edit)
        assert isinstance(found, bytes) or "the PTX has no" not in found, (name, found)
        seen += found != expected
        print(f"{name}: {'not seen' if found == expected else 'other bits' if isinstance(found, bytes) else found}",
              flush=True)
    print(f"{seen} of {len(FAULTS)} faults are seen")


if __name__ == "__main__":
    main()
