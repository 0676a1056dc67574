# -DFOVEA_SANITIZE=address: our code with the address sanitizer and the one of
# undefined behaviour; =thread: with the thread sanitizer. scripts/test
# --sanitize builds and runs both. =coverage: the code counts how often it runs
# (scripts/coverage).
#
# LLVM, MLIR and generated code are not instrumented; test/lit.cfg.py says what
# that means at run time.

set(FOVEA_SANITIZE "" CACHE STRING "address, thread, coverage, or nothing")
set_property(CACHE FOVEA_SANITIZE PROPERTY STRINGS "" address thread coverage)

if(FOVEA_SANITIZE STREQUAL "address")
  # Without RTTI there are no dynamic types to check. A function's own type
  # would be looked up in front of it, where generated code has nothing.
  set(FOVEA_SANITIZE_FLAGS -fsanitize=address,undefined
      -fno-sanitize=vptr,function -fno-sanitize-recover=all)
elseif(FOVEA_SANITIZE STREQUAL "thread")
  set(FOVEA_SANITIZE_FLAGS -fsanitize=thread)
elseif(FOVEA_SANITIZE STREQUAL "coverage")
  set(FOVEA_SANITIZE_FLAGS -fprofile-instr-generate -fcoverage-mapping)
elseif(FOVEA_SANITIZE)
  message(FATAL_ERROR "FOVEA_SANITIZE is '${FOVEA_SANITIZE}'; help: use "
                      "address, thread or coverage")
endif()
if(FOVEA_SANITIZE)
  # Line numbers in reports, and no more: what is built has to fit into memory.
  add_compile_options(${FOVEA_SANITIZE_FLAGS} -gline-tables-only
                      -fno-omit-frame-pointer)
  add_link_options(${FOVEA_SANITIZE_FLAGS})
endif()
