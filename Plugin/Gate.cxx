/**
 * @file
 * @brief PatchIO.so, which any version of ParaView can load: it loads the plugin itself, or reports why the
 * plugin does not fit
 *
 * The plugin is linked with the libraries of one version of ParaView. In another version, the system's loader
 * reports a missing library at best, or nothing if ParaView finds the plugin by itself. This file does not
 * need ParaView's libraries.
 */
#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstring>
#include <string>

class vtkPVPlugin;

/// VTK's function; null if this program has no shared VTK library.
[[gnu::weak]] void vtkOutputWindowDisplayErrorText(const char* text);

namespace {

void Say(const std::string& text)
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

/// Returns the file name of this program's library vtkCommonCore, which contains the version; empty if there
/// is none.
std::string CoreOfThisProgram()
{
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* name) {
        const char* const file = FileNameOf(library->dlpi_name);
        const bool isCore = std::strncmp(file, "libvtkCommonCore-", 17) == 0;
        if (isCore) {
          *static_cast<std::string*>(name) = file;
        }
        return isCore ? 1 : 0;
      },
      &found);
  return found;
}

std::string OwnPath()
{
  Dl_info self;
  return dladdr(reinterpret_cast<void*>(&OwnPath), &self) ? self.dli_fname : PATCHIO_PLUGIN_LIBRARY;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] vtkPVPlugin* pv_plugin_instance()
{
  const std::string own = OwnPath();
  const std::string origin = "PatchIO: " + own + " was built for ParaView " PATCHIO_PARAVIEW_VERSION;
  const std::string core = CoreOfThisProgram();
  if (!core.empty() && !dlopen(PATCHIO_VTK_CORE, RTLD_LAZY | RTLD_NOLOAD)) {
    Say(origin + " (" PATCHIO_VTK_CORE "), but this program uses another version (" + core +
        "). Install the PatchIO that was built for this version, or build PatchIO for this version.\n");
    return nullptr;
  }
  const std::string plugin = own.substr(0, own.rfind('/') + 1) + PATCHIO_PLUGIN_LIBRARY;
  void* const library = dlopen(plugin.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  void* const instance = library ? dlsym(library, "patchio_plugin_instance") : nullptr;
  if (!instance) {
    const char* const reason = dlerror();
    Say(origin + ", and loading it failed: " + (reason ? reason : "the reason is unknown") +
        ". See \"If it does not load\" in Documentation/Guide/Installation.md.\n");
    return nullptr;
  }
  return reinterpret_cast<vtkPVPlugin* (*)()>(instance)();
}
