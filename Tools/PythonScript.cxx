#include "PythonScript.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>

extern char** environ;

namespace patchio::tools {
namespace {

namespace fs = std::filesystem;

/// Runs a program. Returns its exit code, or -1 if the program cannot start or a signal ends it. quiet:
/// discards the program's output and errors.
int RunProgram(const std::vector<std::string>& words, bool quiet)
{
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (quiet) {
    for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
      ::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", 1 /* O_WRONLY */, 0);
    }
  }
  pid_t child = 0;
  const int fault = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (fault != 0) {
    return -1;
  }
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return -1;
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Returns the Python interpreter for a script: `wanted` or, if `wanted` is empty, python3 or
/// /usr/bin/python3. Prefers an interpreter with matplotlib and numpy. If `needsMatplotlib` is false, also
/// accepts Python 3.8 or later without these packages. Returns an empty text if no interpreter is suitable.
std::string FindPython(const std::string& wanted, bool needsMatplotlib)
{
  const std::vector<std::string> candidates = wanted.empty()
                                                  ? std::vector<std::string>{"python3", "/usr/bin/python3"}
                                                  : std::vector<std::string>{wanted};
  const std::string version = "import sys; assert sys.version_info >= (3, 8); ";
  for (const char* packages : {"import matplotlib, numpy", ""}) {
    for (const std::string& python : candidates) {
      if (RunProgram({python, "-c", version + packages}, true) == 0) {
        return python;
      }
    }
    if (needsMatplotlib) {
      break;
    }
  }
  return {};
}

/// Returns the path of a script in share/patchio or next to the program; empty if the script is missing.
std::string FindScript(const std::string& name)
{
  std::error_code fault;
  const fs::path program = fs::read_symlink("/proc/self/exe", fault);
  for (const std::string& folder : {std::string(PATCHIO_SHARE_FROM_BIN), std::string(".")}) {
    const fs::path script = (program.parent_path() / folder / name).lexically_normal();
    if (!fault && fs::exists(script, fault)) {
      return script.string();
    }
  }
  return {};
}

}  // namespace

int RunPythonScript(const std::string& name, const std::vector<std::string>& arguments,
    const std::string& python, bool needsMatplotlib)
{
  const std::string script = FindScript(name);
  if (script.empty()) {
    throw Error(name + " is missing in the folders of this program and of its data. Install PatchIO again.");
  }
  std::vector<std::string> words{FindPython(python, needsMatplotlib), script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (words.front().empty()) {
    words.front() = "python3";
    throw Error(fmt::format(
        "PatchIO found no {0}. Install python3 and python3-matplotlib, or run this command with a {0}: {1}",
        needsMatplotlib ? "Python 3.8 or later with matplotlib and numpy" : "Python 3.8 or later",
        fmt::join(words, " ")));
  }
  return RunProgram(words, false);
}

void RunPythonScriptOnRoot(const std::string& name, const std::vector<std::string>& arguments,
    const std::string& python, const Session& session)
{
  int code = 0;
  session.OnRoot([&] { code = RunPythonScript(name, arguments, python, false); });
  if (session.Ranks().AllGather(std::vector<int>{code})[0] != 0) {
    throw CLI::RuntimeError(1);
  }
}

}  // namespace patchio::tools
