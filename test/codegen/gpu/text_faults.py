"""Plants faults in the PTX of products, sums and loops, and counts those that the emulator sees.

    text_faults.py WORK_DIRECTORY [KIND..]

There are four kinds of code. `groups`: products in bf16 by groups of warps, with copies by one instruction, and two
blocks in a cluster. `warps`: products in bf16 by warps, with copies of 16 bytes. `f32`: products of f32, and a sum over
the lanes of a warp. `loops`: a loop that stays on the device, whose blocks wait for each other. A fault is an edit of
the text. It is seen if the emulator refuses the text, if a kernel fails, or if the results have other bits than without
the edit.
"""

import math
import os
import random
import subprocess
import sys

import same_bits  # noqa: F401 (finds `tensors`)
from tensors import Tensor, write

PRODUCT = """model product
dim K = 260, N = 300
data x[S] : real(K)
data c[S] : real(N)
param w : matrix(N, K)
y[i,n] = sum[k](w[n,k] * x[i,k])
penalty sum[i,n](y[i,n] * c[i,n])
"""
LOOP = """model loop
dim N = 40
data x[S] : real(N)
data c[S] : real(N)
param w : linear(N, bias = false)
y[t] = tanh(w(y[t-1]) + x[t]); y[-1] = zeros(N)
penalty sum[t,n](y[t,n] * c[t,n])
"""
GROUPS = {
    "sums are overwritten": "setp.ne.b32 adds, 1, 0;=>setp.ne.b32 adds, 0, 0;",
    "copies do not see barriers": "fence.mbarrier_init.release.cluster;=>",
    "a warp comes to its cluster in parts": "bar.warp.sync \t-1;=>",
    "a barrier of seven warps": "shl.b32 \t%r5, %r3, 3;=>mul.lo.s32 \t%r5, %r3, 7;",
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
    "a barrier of one more": "mov.b32 \t%r4, 1;=>mov.b32 \t%r4, 2;",
    "a barrier that does not begin": "mbarrier.init.shared.b64 \t[fovea_tile_barriers+40], %r5;=>",
    "fewer bytes are expected": "mov.b32 \t%r17, 32768;=>mov.b32 \t%r17, 16384;",
    "more bytes are expected": "mov.b32 \t%r17, 32768;=>mov.b32 \t%r17, 49152;",
    "another phase": "bfe.u32 \t%r25, %r26, 2, 1;=>bfe.u32 \t%r25, %r26, 3, 1;",
    "room in another phase": "selp.b32 \t%r16, 1, 0, %p7;=>selp.b32 \t%r16, 0, 1, %p7;",
    "a copy to another place": "[%rd60+8192], [%rd63+8192]=>[%rd60+4096], [%rd63+8192]",
    "a copy of fewer bytes": "mov.b32 \t%r21, 8192;=>mov.b32 \t%r21, 4096;",
    "a copy from an odd place": "[%rd60+8192], [%rd63+8192]=>[%rd60+8192], [%rd63+8196]",
    "a copy for one block": "not.b16 \t%rs1, %rs2;=>mov.b16 \t%rs1, 1;",
    "another part of a row": "or.b64 \t%rd100, %rd99, 2;=>or.b64 \t%rd100, %rd99, 4;",
    "another shape": "m64n128k16=>m64n120k16",
    "each block arrives at itself": "mapa.shared::cluster.u64 there, %rd103, %r27;=>mov.b64 there, %rd103;",
    "no fence between proxies": "fence.proxy.async.shared::cta;=>",
}
WARPS = {
    "nobody awaits copies": "cp.async.wait_group \t1;=>",
    "copies on their way": "cp.async.wait_group \t1;=>cp.async.wait_group \t2;",
    "copies that are not committed": "cp.async.commit_group;=>",
    "a copy that is not there": "cp.async.cg.shared.global [%rd154], [%rd155], 16;=>",
    "a copy of 8 bytes": "cp.async.cg.shared.global [%rd154], [%rd155], 16;=>"
                         "cp.async.cg.shared.global [%rd154], [%rd155], 8;",
    "copies without a barrier": "bar.sync \t0;=>",
    "a tile ends without a barrier": "$L__BB1_9:\n\tbar.sync \t0;=>$L__BB1_9:",
    "a stage of another": "mul.lo.s64 \t%rd190, %rd189, 98304;=>mul.lo.s64 \t%rd190, %rd189, 65536;",
    "two copies to one place": "add.s64 \t%rd158, %rd154, 8192;=>add.s64 \t%rd158, %rd154, 4096;",
    "a side that is turned": "ldmatrix.sync.aligned.m8n8.x4.shared=>ldmatrix.sync.aligned.m8n8.x4.trans.shared",
    "another layout": "m16n8k16.row.col=>m16n8k16.row.row",
    "parts change places": "{%r28, %r29},=>{%r29, %r28},",
}
F32 = {
    "a tile is overwritten": "bar.sync \t0;=>",
    "a tile is read too early": "[%rd30], %r10;\n\tbar.sync \t0;=>[%rd30], %r10;",
    "a barrier of half a block": "bar.sync \t0;=>bar.sync \t0, 64;",
    "a tile lacks an element": "st.shared.b32 \t[%rd30], %r10;=>",
    "a tile is too small": "fovea_tile_b_f32_1152[4608];=>fovea_tile_b_f32_1152[4576];",
    "an address that is not aligned": "[%rd132];=>[%rd132+4];",
    "sums that do not begin": "mov.b64 \t%rd130, 0;\n\tmov.b32 \t%r5, 0f00000000;=>mov.b64 \t%rd130, 0;",
    "another factor": "fma.rn.f32 \t%r22, %r6, %r8, %r22;=>fma.rn.f32 \t%r22, %r6, %r9, %r22;",
    "a product is rounded": "fma.rn.f32 \t%r22, %r6, %r8, %r22;=>mul.rn.f32 \t%r5, %r6, %r8;\n"
                            "\tadd.rn.f32 \t%r22, %r22, %r5;",
    "a result twice": "st.global.b32 \t[%rd77+4], %r23;=>st.global.b32 \t[%rd77+4], %r22;",
    "a result that is not written": "st.global.b32 \t[%rd77+4], %r23;=>",
    "more columns than there are": "setp.lt.u64 \t%p46, %rd35, 300;=>setp.lt.u64 \t%p46, %rd35, 320;",
    "a loop that ends early": "@%p44 bra=>@!%p44 bra",
    "a sum of other lanes": "%r20, 8, 4127=>%r20, 16, 4127",
    "lanes that do not come": "shl.b32 \t%r3, %r9, %r8;=>mov.b32 \t%r3, -1;",
    "all lanes write": "@%p8 bra \t$L__BB3_10;=>",
}
LOOPS = {
    "nothing is released at a count": "fence.acq_rel.gpu;\n\tatom.global.add.u32 \t%r29=>atom.global.add.u32 \t%r29",
    "nothing is acquired from counts": "@%p128 bra \t$L__BB8_145;\n\tfence.acq_rel.gpu;=>@%p128 bra \t$L__BB8_145;",
    "nothing is acquired with a turn": "ld.acquire.gpu.global.b32 \t%r31=>ld.relaxed.gpu.global.b32 \t%r31",
    "a turn without order": "st.release.gpu.global.b32 \t[fovea_turn], %r32=>"
                            "st.relaxed.gpu.global.b32 \t[fovea_turn], %r32",
    "nobody waits for a turn": "@%p130 bra=>@!%p130 bra",
    "a block less is awaited": "add.s64 \t%rd83, %rd12, -1;=>add.s64 \t%rd83, %rd12, -2;",
    "nobody counts": "[fovea_arrived], 1;=>[fovea_arrived], 0;",
    "a count that goes on": "st.relaxed.gpu.global.b32 \t[fovea_arrived], 0;=>",
    "a turn that stays": "add.s32 \t%r17, %r1, 1;=>add.s32 \t%r17, %r1, 0;",
    "a block counts before its threads come": "$L__BB8_142:\n\tbar.sync \t0;=>$L__BB8_142:",
    "threads go on before their block": "$L__BB8_147:\n\tbar.sync \t0;=>$L__BB8_147:",
    "a tile of a loop is overwritten": "$L__BB8_69:\n\tbar.sync \t0;=>$L__BB8_69:",
}
# A spec, its weights, the number of examples, their length, and the rows and columns of the weights.
PRODUCTS, LOOPING = (PRODUCT, "w", 1, 150, 300, 260), (LOOP, "w.weight", 4, 5, 40, 40)
BF16 = ["--precision", "bf16"]
# What runs, by which architecture, on how many processors, how, and with which faults.
KINDS = {"groups": (PRODUCTS, "90", "1", BF16, GROUPS), "warps": (PRODUCTS, "80", "1", BF16, WARPS),
         "f32": (PRODUCTS, "80", "1", [], F32), "loops": (LOOPING, "80", "8", [], LOOPS)}


def main():
    work, kinds = sys.argv[1], sys.argv[2:]
    os.makedirs(work, exist_ok=True)
    draw = random.Random(1)
    spec, weights, inputs, out = (os.path.join(work, name) for name in ("p.fov", "w.safetensors", "x.safetensors", "y"))

    def tensor(*shape):
        return Tensor("F64", list(shape), [draw.uniform(-1, 1) for _ in range(math.prod(shape))])

    def prepare(text, weight, batch, length, rows, columns):
        with open(spec, "w") as file:
            file.write(text)
        write(weights, {weight: tensor(rows, columns)})
        lengths = Tensor("I64", [batch], [length] * batch)
        write(inputs, {"x": tensor(batch, length, columns), "c": tensor(batch, length, rows), "x.length": lengths,
                       "c.length": lengths})

    def run(capability, processors, options, **environment):
        command = ["fovea", "run", spec, "--weights", weights, "--data", inputs, "--quiet", "--get", "y", "loss",
                   "-o", out, "--target", "cuda", *options]
        done = subprocess.run(command, capture_output=True, text=True, env={
            **os.environ, "FOVEA_EMULATOR_CAPABILITY": capability, "FOVEA_EMULATOR_PROCESSORS": processors,
            "FOVEA_EMULATOR_SCHEDULE": "descending", **environment})
        if done.returncode != 0:
            return done.stderr.strip().splitlines()[-1]
        with open(out, "rb") as file:
            return file.read()

    seen = planted = 0
    for kind in kinds or KINDS:
        model, *how, faults = KINDS[kind]
        prepare(*model)
        expected = run(*how)
        assert isinstance(expected, bytes), expected
        for name, edit in faults.items():
            found = run(*how, FOVEA_EMULATOR_EDIT=edit)
            assert isinstance(found, bytes) or "the PTX has no" not in found, (name, found)
            seen += found != expected
            print(f"{name}: {'not seen' if found == expected else 'other bits' if isinstance(found, bytes) else found}",
                  flush=True)
        planted += len(faults)
    print(f"{seen} of {planted} faults are seen")


if __name__ == "__main__":
    main()
