//===- AttnOps.td - every op of the attn dialect -----------*- tablegen -*-===//
#ifndef ATTN_OPS_TD
#define ATTN_OPS_TD

include "dialect/AttnArrayOps.td"
include "dialect/AttnModelOps.td"
include "dialect/AttnLoopOps.td"
include "dialect/AttnDecoderOps.td"
include "dialect/AttnKernelOps.td"
include "dialect/AttnMemory.td"

#endif // ATTN_OPS_TD
