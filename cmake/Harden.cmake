# An error in memory ends a program instead of changing what it does: canaries on
# the stack, checked functions of the C library, tables of functions that are
# read-only once the program runs. Paths in messages begin at the root of the
# sources, so binaries do not depend on the folder of the build.

if(NOT FOVEA_SANITIZE)
  add_compile_options(-fstack-protector-strong
                      -ffile-prefix-map=${PROJECT_BINARY_DIR}/=build/
                      -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
  add_compile_definitions($<$<COMPILE_LANGUAGE:C,CXX>:_FORTIFY_SOURCE=2>)
endif()
add_link_options(-Wl,-z,relro,-z,now)

# The CPU checks returns, and jumps through pointers (CET, BTI), in what ships with
# models: the code of `name` for the machine that `folder` names, or this one.
function(fovea_control_flow name folder)
  if("${folder}${CMAKE_SYSTEM_PROCESSOR}" MATCHES "^(aarch64|arm64)")
    target_compile_options(${name} PRIVATE -mbranch-protection=standard)
  else()
    target_compile_options(${name} PRIVATE -fcf-protection=full)
    target_link_options(${name} PRIVATE -Wl,-z,shstk)
  endif()
endfunction()
