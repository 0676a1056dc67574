//===- Stubs.cpp - passes that do nothing yet -----------------------------===//
//
// Each line goes when its pass lands.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

namespace fovea::attn {
#define GEN_PASS_DEF_INHERITSUPPORT
#define GEN_PASS_DEF_SPLITCONCAT
#define GEN_PASS_DEF_INLINE
#define GEN_PASS_DEF_SCHEDULE
#include "passes/Passes.h.inc"

#define STUB(Name)                                                             \
  namespace {                                                                  \
  struct Name : impl::Name##Base<Name> {                                       \
    using Name##Base::Name##Base;                                              \
    void runOnOperation() override {}                                          \
  };                                                                           \
  }
STUB(InheritSupport)
STUB(SplitConcat)
STUB(Inline)
STUB(Schedule)

} // namespace fovea::attn
