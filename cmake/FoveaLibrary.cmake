# fovea_library(NAME SOURCES..): a static library that shares one precompiled
# header of MLIR with every other (a file then compiles in about a second).
#
# Plain add_library on purpose: add_mlir_library links the static archives
# beside libMLIR.so, and a type then has two TypeIDs.

set(FOVEA_WARNINGS -Wall -Wextra -Wno-unused-parameter -Werror=return-type)
set(FOVEA_FLAGS -fno-exceptions -fno-rtti -fvisibility-inlines-hidden)

add_library(FoveaPch STATIC ${PROJECT_SOURCE_DIR}/cmake/Pch.cpp)
target_compile_options(FoveaPch PRIVATE ${FOVEA_WARNINGS} ${FOVEA_FLAGS})
target_precompile_headers(FoveaPch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/Pch.h)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # ccache sees through a precompiled header only without its time stamp.
  add_compile_options(-Xclang -fno-pch-timestamp)
endif()

function(fovea_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE ${FOVEA_WARNINGS} ${FOVEA_FLAGS})
  target_precompile_headers(${name} REUSE_FROM FoveaPch)
  target_link_libraries(${name} PUBLIC MLIR LLVM)
endfunction()

# An executable of the project, with the same flags and header.
function(fovea_executable name)
  add_executable(${name} ${ARGN})
  target_compile_options(${name} PRIVATE ${FOVEA_WARNINGS} ${FOVEA_FLAGS})
  target_precompile_headers(${name} REUSE_FROM FoveaPch)
  target_link_libraries(${name} PRIVATE MLIR LLVM)
  # What the tests may call: test/CMakeLists.txt.
  set_property(GLOBAL APPEND PROPERTY FOVEA_EXECUTABLES ${name})
endfunction()
