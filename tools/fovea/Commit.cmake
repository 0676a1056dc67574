# Writes OUTPUT with the commit of SOURCE, where it has changed.
cmake_minimum_required(VERSION 3.20)
execute_process(
  COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty=+
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define FOVEA_COMMIT \"@commit@\"\n"
     @ONLY)
