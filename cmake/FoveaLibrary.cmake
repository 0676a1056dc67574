# fovea_library(NAME SOURCES..): a static library that shares one precompiled
# header of MLIR with every other (a file then compiles in about a second).
#
# Plain add_library on purpose: add_mlir_library links the static archives
# beside libMLIR.so, and a type then has two TypeIDs.

# What each library links: libMLIR.so and libLLVM.so. A program with the property
# FOVEA_WITHOUT_LLVM_LIBRARIES contains what it needs of them instead: it starts
# in a quarter of the time, and packages have a third of the size.
file(GLOB FOVEA_LLVM_ARCHIVES ${LLVM_LIBRARY_DIR}/libMLIR*.a
     ${LLVM_LIBRARY_DIR}/libLLVM*.a)
add_library(FoveaLlvmArchives INTERFACE)
target_link_libraries(FoveaLlvmArchives INTERFACE ${FOVEA_LLVM_ARCHIVES})
target_link_options(FoveaLlvmArchives INTERFACE -Wl,--gc-sections)
add_library(FoveaLlvm INTERFACE)
set(alone $<BOOL:$<TARGET_PROPERTY:FOVEA_WITHOUT_LLVM_LIBRARIES>>)
target_link_libraries(FoveaLlvm INTERFACE
  $<IF:${alone},FoveaLlvmArchives,MLIR> $<$<NOT:${alone}>:LLVM>)

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
  target_link_libraries(${name} PUBLIC FoveaLlvm)
  fovea_in_groups(${name})
endfunction()

# An executable of the project, with the same flags and header.
function(fovea_executable name)
  add_executable(${name} ${ARGN})
  target_compile_options(${name} PRIVATE ${FOVEA_WARNINGS} ${FOVEA_FLAGS})
  target_precompile_headers(${name} REUSE_FROM FoveaPch)
  target_link_libraries(${name} PRIVATE FoveaLlvm)
  # What the tests may call: test/CMakeLists.txt.
  set_property(GLOBAL APPEND PROPERTY FOVEA_EXECUTABLES ${name})
endfunction()

# Compiles the files of a folder some at a time: a cold build takes little more
# than half of the time, and a change still compiles in seconds. Most of the
# compiler depends on the ops of the dialect, so its groups are larger: a change
# of an op compiles fewer. Files with options of their own, and those with a
# UNITY_GROUP already, are left alone.
function(fovea_in_groups name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${name} SOURCES)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR
             BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE own)
  set(size 6)
  if(own MATCHES "^(dialect|passes|targets|codegen)")
    set(size 9)
  endif()
  foreach(source ${sources})
    get_source_file_property(group ${source} UNITY_GROUP)
    if(group)
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "files_of_${folder}" folder)
    math(EXPR ${folder} "${${folder}} + 1")
    math(EXPR number "(${${folder}} - 1) / ${size}")
    set_source_files_properties(${source} PROPERTIES
                                UNITY_GROUP ${folder}_${number})
  endforeach()
endfunction()
