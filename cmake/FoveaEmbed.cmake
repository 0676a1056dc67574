# Writes C++ arrays with the bytes of files, which become part of a program:
# `embeddedFiles`, an array of EmbeddedFile (tools/fovea/Embedded.h). Names are
# relative to `folder`.
function(fovea_embed output folder)
  set(arrays "")
  set(table "")
  set(number 0)
  foreach(file ${ARGN})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${folder} OUTPUT_VARIABLE name)
    string(APPEND arrays "constexpr unsigned char file${number}[] = {${bytes}};\n")
    string(APPEND table "{\"${name}\", file${number}, sizeof(file${number})},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(GENERATE OUTPUT ${output} CONTENT
       "${arrays}constexpr EmbeddedFile embeddedFiles[] = {\n${table}};\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()
