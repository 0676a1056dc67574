# FOVEA_WASM32: the flags of code for WebAssembly. FOVEA_HAS_WASM32: whether its
# libraries are installed. Headers without a library are those of this machine,
# which come last.
set(FOVEA_WASM32 --target=wasm32-wasi -Wno-deprecated -msimd128 -fno-exceptions
  -fno-stack-protector -U_FORTIFY_SOURCE
  -idirafter /usr/include)
set(CMAKE_REQUIRED_FLAGS ${FOVEA_WASM32})
list(JOIN CMAKE_REQUIRED_FLAGS " " CMAKE_REQUIRED_FLAGS)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
check_cxx_source_compiles("#include <string>\n#ifndef __wasm_simd128__\n#error\n#endif" FOVEA_HAS_WASM32)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
