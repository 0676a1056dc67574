// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @outside {
  // expected-error @+1 {{expects parent op to be one of 'attn.compute, attn.scan, attn.search, attn.kernel'}}
  attn.yield
}
