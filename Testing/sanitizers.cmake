# The environment of programs that were built with PATCHIO_SANITIZE: a test fails after any report. Leaks are not reported, because MPI,
# Python and ParaView have leaks. The tests preload libraries with faults before the sanitizer's own library.
set(asan "detect_leaks=0:verify_asan_link_order=0:detect_odr_violation=0:quarantine_size_mb=64")
set(ubsan "print_stacktrace=1:halt_on_error=1:suppressions=${CMAKE_CURRENT_SOURCE_DIR}/undefined_sanitizer.txt")
set(tsan "suppressions=${CMAKE_CURRENT_SOURCE_DIR}/thread_sanitizer.txt halt_on_error=0 second_deadlock_stack=1")
# ParaView and Python are built without a sanitizer, so its library must be the first library; see ParaView/with_display.sh.
set(preload)
foreach (pair IN ITEMS "address;asan" "undefined;ubsan" "thread;tsan")
  list(GET pair 0 sanitizer)
  list(GET pair 1 library)
  if (PATCHIO_SANITIZE MATCHES "${sanitizer}")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${library}.so OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(APPEND preload "${path} ")
  endif ()
endforeach ()
file(APPEND "${CMAKE_CURRENT_BINARY_DIR}/environment.cmake" "
set(ENV{ASAN_OPTIONS} \"${asan}\")
set(ENV{UBSAN_OPTIONS} \"${ubsan}\")
set(ENV{TSAN_OPTIONS} \"${tsan}\")
set(ENV{PATCHIO_PRELOAD} \"${preload}\")
")

# ThreadSanitizer follows tasks from thread to thread only if oneTBB is also compiled with ThreadSanitizer: the same version as the
# headers, from the sources of Debian or of the project.
if (PATCHIO_SANITIZE MATCHES "thread")
  include(ExternalProject)
  ExternalProject_Add(oneTBB PREFIX "${CMAKE_CURRENT_BINARY_DIR}/oneTBB" DOWNLOAD_EXTRACT_TIMESTAMP OFF
    URL "https://deb.debian.org/debian/pool/main/o/onetbb/onetbb_${TBB_VERSION}.orig.tar.xz"
      "https://github.com/uxlfoundation/oneTBB/archive/refs/tags/v${TBB_VERSION}.tar.gz"
    CMAKE_ARGS -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTBB_SANITIZE=thread -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBB_OUTPUT_DIR_BASE=built
    BUILD_COMMAND ${CMAKE_COMMAND} --build . --target tbb INSTALL_COMMAND "")
  file(APPEND "${CMAKE_CURRENT_BINARY_DIR}/environment.cmake"
    "set(ENV{LD_LIBRARY_PATH} \"${CMAKE_CURRENT_BINARY_DIR}/oneTBB/src/oneTBB-build/built_relwithdebinfo\")\n")
endif ()
