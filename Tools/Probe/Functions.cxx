#include "Probe/Functions.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

namespace patchio::probe {
namespace {

// Wrappers that give all functions the same signature, so that one loop measures all functions.

template <auto Call>
int AtBlocking(MPI_File file, MPI_Offset offset, void* buffer, int bytes, MPI_Request*, MPI_Status* status)
{
  return Call(file, offset, buffer, bytes, MPI_BYTE, status);
}

template <auto Call>
int AtStarting(MPI_File file, MPI_Offset offset, void* buffer, int bytes, MPI_Request* request, MPI_Status*)
{
  return Call(file, offset, buffer, bytes, MPI_BYTE, request);
}

template <auto Call>
int AtSplit(MPI_File file, MPI_Offset offset, void* buffer, int bytes, MPI_Request*, MPI_Status*)
{
  return Call(file, offset, buffer, bytes, MPI_BYTE);
}

template <auto Call>
int Blocking(MPI_File file, MPI_Offset, void* buffer, int bytes, MPI_Request*, MPI_Status* status)
{
  return Call(file, buffer, bytes, MPI_BYTE, status);
}

template <auto Call>
int Starting(MPI_File file, MPI_Offset, void* buffer, int bytes, MPI_Request* request, MPI_Status*)
{
  return Call(file, buffer, bytes, MPI_BYTE, request);
}

template <auto Call>
int Split(MPI_File file, MPI_Offset, void* buffer, int bytes, MPI_Request*, MPI_Status*)
{
  return Call(file, buffer, bytes, MPI_BYTE);
}

template <auto Call>
int Ending(MPI_File file, void* buffer, MPI_Status* status)
{
  return Call(file, buffer, status);
}

constexpr bool Noncollective = false;
constexpr bool Collective = true;

void AddMpi(std::vector<Function>& all)
{
  using P = Pointer;
  using C = Completion;
  const auto add = [&all](const char* name, P positioning, C synchronism, bool collective, BeginCall begin,
                       EndCall end = nullptr) {
    const bool write = std::strstr(name, "write") != nullptr;
    all.push_back({name, positioning, synchronism, collective, write, false, begin, end});
  };
  add("read_at", P::Explicit, C::Blocking, Noncollective, AtBlocking<MPI_File_read_at>);
  add("read_at_all", P::Explicit, C::Blocking, Collective, AtBlocking<MPI_File_read_at_all>);
  add("iread_at", P::Explicit, C::NonBlocking, Noncollective, AtStarting<MPI_File_iread_at>);
  add("iread_at_all", P::Explicit, C::NonBlocking, Collective, AtStarting<MPI_File_iread_at_all>);
  add("read_at_all_begin", P::Explicit, C::Split, Collective, AtSplit<MPI_File_read_at_all_begin>,
      Ending<MPI_File_read_at_all_end>);
  add("read", P::Individual, C::Blocking, Noncollective, Blocking<MPI_File_read>);
  add("read_all", P::Individual, C::Blocking, Collective, Blocking<MPI_File_read_all>);
  add("iread", P::Individual, C::NonBlocking, Noncollective, Starting<MPI_File_iread>);
  add("iread_all", P::Individual, C::NonBlocking, Collective, Starting<MPI_File_iread_all>);
  add("read_all_begin", P::Individual, C::Split, Collective, Split<MPI_File_read_all_begin>,
      Ending<MPI_File_read_all_end>);
  add("read_shared", P::Shared, C::Blocking, Noncollective, Blocking<MPI_File_read_shared>);
  add("iread_shared", P::Shared, C::NonBlocking, Noncollective, Starting<MPI_File_iread_shared>);
  add("read_ordered", P::Shared, C::Blocking, Collective, Blocking<MPI_File_read_ordered>);
  add("read_ordered_begin", P::Shared, C::Split, Collective, Split<MPI_File_read_ordered_begin>,
      Ending<MPI_File_read_ordered_end>);
  add("write_at", P::Explicit, C::Blocking, Noncollective, AtBlocking<MPI_File_write_at>);
  add("write_at_all", P::Explicit, C::Blocking, Collective, AtBlocking<MPI_File_write_at_all>);
  add("iwrite_at", P::Explicit, C::NonBlocking, Noncollective, AtStarting<MPI_File_iwrite_at>);
  add("iwrite_at_all", P::Explicit, C::NonBlocking, Collective, AtStarting<MPI_File_iwrite_at_all>);
  add("write_at_all_begin", P::Explicit, C::Split, Collective, AtSplit<MPI_File_write_at_all_begin>,
      Ending<MPI_File_write_at_all_end>);
  add("write", P::Individual, C::Blocking, Noncollective, Blocking<MPI_File_write>);
  add("write_all", P::Individual, C::Blocking, Collective, Blocking<MPI_File_write_all>);
  add("iwrite", P::Individual, C::NonBlocking, Noncollective, Starting<MPI_File_iwrite>);
  add("iwrite_all", P::Individual, C::NonBlocking, Collective, Starting<MPI_File_iwrite_all>);
  add("write_all_begin", P::Individual, C::Split, Collective, Split<MPI_File_write_all_begin>,
      Ending<MPI_File_write_all_end>);
  add("write_shared", P::Shared, C::Blocking, Noncollective, Blocking<MPI_File_write_shared>);
  add("iwrite_shared", P::Shared, C::NonBlocking, Noncollective, Starting<MPI_File_iwrite_shared>);
  add("write_ordered", P::Shared, C::Blocking, Collective, Blocking<MPI_File_write_ordered>);
  add("write_ordered_begin", P::Shared, C::Split, Collective, Split<MPI_File_write_ordered_begin>,
      Ending<MPI_File_write_ordered_end>);
}

void AddPosix(std::vector<Function>& all)
{
  for (const bool direct : {false, true}) {
    for (const bool write : {false, true}) {
      Function function;
      function.Name = std::string(write ? "pwrite" : "pread") + (direct ? "_direct" : "");
      function.Positioning = Pointer::Posix;
      function.Write = write;
      function.Direct = direct;
      all.push_back(function);
    }
  }
}

using FunctionFilter = std::function<bool(const Function&)>;

const std::map<std::string, FunctionFilter>& Groups()
{
  static const std::map<std::string, FunctionFilter> groups = {
      {"all", [](const Function&) { return true; }},
      {"reads", [](const Function& f) { return !f.Write; }},
      {"writes", [](const Function& f) { return f.Write; }},
      {"explicit", [](const Function& f) { return f.Positioning == Pointer::Explicit; }},
      {"individual-pointer", [](const Function& f) { return f.Positioning == Pointer::Individual; }},
      {"shared", [](const Function& f) { return f.Positioning == Pointer::Shared; }},
      {"posix", [](const Function& f) { return f.Positioning == Pointer::Posix; }},
      {"collective", [](const Function& f) { return f.Collective; }},
      {"individual", [](const Function& f) { return !f.Collective && f.Positioning != Pointer::Posix; }},
      {"blocking", [](const Function& f) { return f.Synchronism == Completion::Blocking; }},
      {"nonblocking", [](const Function& f) { return f.Synchronism == Completion::NonBlocking; }},
      {"split", [](const Function& f) { return f.Synchronism == Completion::Split; }},
  };
  return groups;
}

bool IsNamedBy(const Function& function, const std::string& word)
{
  const auto group = Groups().find(word);
  return function.Name == word || (group != Groups().end() && group->second(function));
}

}  // namespace

const std::vector<Function>& AllFunctions()
{
  static const std::vector<Function> all = [] {
    std::vector<Function> functions;
    AddMpi(functions);
    AddPosix(functions);
    return functions;
  }();
  return all;
}

std::vector<Function> SelectFunctions(const std::vector<std::string>& words)
{
  for (const std::string& word : words) {
    const auto isNamed = [&word](const Function& function) { return IsNamedBy(function, word); };
    if (std::none_of(AllFunctions().begin(), AllFunctions().end(), isNamed)) {
      throw Error(
          fmt::format("Unknown function '{}'. Use pread, pwrite, names of MPI-IO functions without the "
                      "prefix MPI_File_, or groups: all, reads, writes, explicit, individual-pointer, "
                      "shared, posix, collective, individual, blocking, nonblocking, split.",
              word));
    }
  }
  std::vector<Function> selected;
  for (const Function& function : AllFunctions()) {
    const auto isNamed = [&function](const std::string& word) { return IsNamedBy(function, word); };
    if (std::any_of(words.begin(), words.end(), isNamed)) {
      selected.push_back(function);
    }
  }
  return selected;
}

}  // namespace patchio::probe
