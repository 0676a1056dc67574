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

# Files of a group are compiled at once, in little more than half of the time:
# those of each folder that is named ('.' is the library's own), and those that
# have the property UNITY_GROUP.
function(fovea_in_groups name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${name} SOURCES)
  foreach(folder ${ARGN})
    foreach(source ${sources})
      cmake_path(GET source PARENT_PATH own)
      if(own STREQUAL folder OR (own STREQUAL "" AND folder STREQUAL "."))
        string(MAKE_C_IDENTIFIER "files_of_${folder}" group)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
      endif()
    endforeach()
  endforeach()
endfunction()
