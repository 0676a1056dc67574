// RUN: fovea-opt %s --verify-diagnostics --attn-check-phase=phase=schedule

// expected-error @+1 {{'attn.system' op remains after phase 'schedule'}}
attn.system @loss {
}
