# patchio_add_stand_in_targets(TARGET)
#
# ParaView's Qt libraries and its server manager name the targets of about 10 other packages (X11, GLEW, NetCDF,
# Qt5::OpenGL ...) in their link interfaces, and CMake stops when a target is missing. A plugin does not use these packages:
# ParaView's shared libraries load them. Each missing target gets an empty stand-in, so that the packages need not be installed
# to build the plugin.
function (patchio_add_stand_in_targets target)
  set(waiting "${target}")
  set(seen "")
  while (waiting)
    list(POP_FRONT waiting current)
    if (current IN_LIST seen)
      continue ()
    endif ()
    list(APPEND seen "${current}")
    if (NOT TARGET "${current}")
      add_library("${current}" INTERFACE IMPORTED)
      continue ()
    endif ()
    get_target_property(libraries "${current}" INTERFACE_LINK_LIBRARIES)
    get_target_property(configurations "${current}" IMPORTED_CONFIGURATIONS)
    foreach (configuration IN LISTS configurations)
      get_target_property(more "${current}" "IMPORTED_LINK_DEPENDENT_LIBRARIES_${configuration}")
      list(APPEND libraries ${more})
    endforeach ()
    # Names may be part of generator expressions, for example $<LINK_ONLY:X11::X11>.
    string(REGEX MATCHALL "[A-Za-z0-9_.+-]+::[A-Za-z0-9_.+-]+" names "${libraries}")
    list(APPEND waiting ${names})
  endwhile ()
endfunction ()

# patchio_forget_missing_python_modules(VARIABLE ACCESS ...)
#
# Debian 13's ParaView names its Python modules X.so, but the files are called X.cpython-313-x86_64-linux-gnu.so, so that
# find_package(ParaView) stops. A plugin links none of these modules. ParaView's files unset _IMPORT_PREFIX just before they
# check their targets. So this macro, called at each change of _IMPORT_PREFIX, removes the modules whose files do not exist.
macro (patchio_forget_missing_python_modules variable access)
  if (NOT "${access}" MATCHES "READ_ACCESS$")
    foreach (patchio_target IN LISTS _cmake_import_check_targets)
      foreach (patchio_file IN LISTS "_cmake_import_check_files_for_${patchio_target}")
        if (patchio_target MATCHES "Python$" AND NOT EXISTS "${patchio_file}")
          list(REMOVE_ITEM _cmake_import_check_targets "${patchio_target}")
        endif ()
      endforeach ()
    endforeach ()
  endif ()
endmacro ()
