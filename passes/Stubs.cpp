//===- Stubs.cpp - passes that do nothing yet -----------------------------===//
//
// Each line goes when its pass lands.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

namespace fovea::attn {
#define GEN_PASS_DEF_SCHEDULE
#include "passes/Passes.h.inc"

#define STUB(Name)                                                             \
  namespace {                                                                  \
  struct Name : impl::Name##Base<Name> {                                       \
    using Name##Base::Name##Base;                                              \
    void runOnOperation() override {}                                          \
  };                                                                           \
  }
STUB(Schedule)

} // namespace fovea::attn
