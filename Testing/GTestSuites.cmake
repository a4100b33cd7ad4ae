# patchio_gtest_suites(TARGET PREFIX LABELS...): adds a ctest test PREFIX.SUITE for each suite of GoogleTest. A process for each of a
# thousand cases would take longer than the cases; the output of a suite names the failed cases.
# As a script (SUITES_OF, PREFIX, LABELS, TIMEOUT, OUTPUT), this file lists the suites of a program that was just built.
if (CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND "${SUITES_OF}" --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY TIMEOUT 120)
  # All instances of a suite, such as "SUITE/0.", are one test.
  string(REGEX MATCHALL "(^|\n)[A-Za-z_][A-Za-z0-9_/]*\\." suites "${listed}")
  list(TRANSFORM suites REPLACE "[\n.]" "")
  list(TRANSFORM suites REPLACE "/[0-9]+$" "/*")
  list(REMOVE_DUPLICATES suites)
  set(script "")
  foreach (suite IN LISTS suites)
    string(REPLACE "/*" "" name "${PREFIX}.${suite}")
    string(APPEND script "add_test([==[${name}]==] [==[${SUITES_OF}]==] [==[--gtest_filter=${suite}.*]==])\n"
      "set_tests_properties([==[${name}]==] PROPERTIES LABELS [==[${LABELS}]==] TIMEOUT ${TIMEOUT} FAIL_REGULAR_EXPRESSION \"Running 0 tests\")\n")
  endforeach ()
  file(WRITE "${OUTPUT}" "${script}")
  return()
endif ()

function(patchio_gtest_suites target prefix)
  set(list "${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake")
  set(timeout 300)  # seconds; under ThreadSanitizer a suite may be a hundred times slower
  if (PATCHIO_SANITIZE)
    set(timeout 900)
  endif ()
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS "${list}" VERBATIM
    COMMAND ${CMAKE_COMMAND} -D "SUITES_OF=$<TARGET_FILE:${target}>" -D "PREFIX=${prefix}" -D "LABELS=${ARGN}"
      -D TIMEOUT=${timeout} -D "OUTPUT=${list}" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}")
  # Before the first build, the list does not exist.
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${target}_tests.cmake" @ONLY
    CONTENT "if (EXISTS \"@list@\")\n  include(\"@list@\")\nelse ()\n  add_test(@target@_NOT_BUILT @target@_NOT_BUILT)\nendif ()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${CMAKE_CURRENT_BINARY_DIR}/${target}_tests.cmake")
endfunction()
