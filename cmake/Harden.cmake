# An error in memory ends a program instead of changing what it does: canaries on
# the stack, checked functions of the C library, tables of functions that are
# read-only once the program runs. Paths in messages begin at the root of the
# sources, so binaries do not depend on the folder of the build.
#
# There is no control-flow protection (CET, BTI): compiled models are called
# through pointers, and LLVM's libraries are built without it.

if(NOT FOVEA_SANITIZE)
  add_compile_options(-fstack-protector-strong
                      -ffile-prefix-map=${PROJECT_BINARY_DIR}/=build/
                      -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
  add_compile_definitions($<$<COMPILE_LANGUAGE:C,CXX>:_FORTIFY_SOURCE=2>)
endif()
add_link_options(-Wl,-z,relro,-z,now)
