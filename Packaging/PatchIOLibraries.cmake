# Libraries that have no CMake package in some versions, such as Debian 12's libdeflate.
function (patchio_find_library target header library)
  string(TOUPPER "${target}" name)
  find_path(${name}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${name}_LIBRARY NAMES ${library} lib${library} REQUIRED)
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
  add_library(PatchIO::${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(PatchIO::${target} PROPERTIES
    IMPORTED_LOCATION "${${name}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
endfunction ()
patchio_find_library(Deflate libdeflate.h deflate)
patchio_find_library(Zstd zstd.h zstd)
