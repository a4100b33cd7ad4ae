/**
 * @file
 * @brief The library PatchIO.so, which loads the plugin's own library or reports why the plugin does not fit
 *
 * The plugin is linked with the libraries of one version of ParaView. In another version, the system's loader
 * reports a missing library at best, or nothing if ParaView finds the plugin by itself. PatchIO.so does not
 * need ParaView's libraries, so that any version of ParaView can load PatchIO.so.
 */
#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>
#include <string>

class vtkPVPlugin;

/// Prints an error to VTK's output window. Null if the program has no shared VTK library.
[[gnu::weak]] void vtkOutputWindowDisplayErrorText(const char* text);

namespace {

void ReportError(const std::string& text)
{
  if (vtkOutputWindowDisplayErrorText) {
    vtkOutputWindowDisplayErrorText(text.c_str());
  } else {
    std::fprintf(stderr, "%s", text.c_str());
  }
}

const char* FileNameOf(const char* path)
{
  const char* const slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/// Returns the file name of the library vtkCommonCore that the program has loaded; the name contains VTK's
/// version. Returns an empty text if the program has not loaded vtkCommonCore.
std::string LoadedVtkCore()
{
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* name) {
        const char* const fileName = FileNameOf(library->dlpi_name);
        const bool isCore = std::strncmp(fileName, "libvtkCommonCore-", 17) == 0;
        if (isCore) {
          *static_cast<std::string*>(name) = fileName;
        }
        return isCore ? 1 : 0;
      },
      &found);
  return found;
}

std::string LibraryPath()
{
  Dl_info self;
  return dladdr(reinterpret_cast<void*>(&LibraryPath), &self) ? self.dli_fname : PATCHIO_PLUGIN_LIBRARY;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] vtkPVPlugin* pv_plugin_instance()
{
  const std::string libraryPath = LibraryPath();
  const std::string origin = "PatchIO: " + libraryPath + " was built for ParaView " PATCHIO_PARAVIEW_VERSION;
  const std::string core = LoadedVtkCore();
  if (!core.empty() && !dlopen(PATCHIO_VTK_CORE, RTLD_LAZY | RTLD_NOLOAD)) {
    ReportError(
        origin + " (" PATCHIO_VTK_CORE "), but this program uses another version (" + core +
        "). Install the PatchIO that was built for this version, or build PatchIO for this version.\n");
    return nullptr;
  }
  const std::string plugin = libraryPath.substr(0, libraryPath.rfind('/') + 1) + PATCHIO_PLUGIN_LIBRARY;
  void* const library = dlopen(plugin.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  void* const instance = library ? dlsym(library, "patchio_plugin_instance") : nullptr;
  if (!instance) {
    const char* const reason = dlerror();
    ReportError(origin + ", and loading it failed: " + (reason ? reason : "the reason is unknown") +
                ". See \"If it does not load\" in Documentation/Guide/Installation.md.\n");
    return nullptr;
  }
  return reinterpret_cast<vtkPVPlugin* (*)()>(instance)();
}
