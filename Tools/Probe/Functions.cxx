#include "Probe/Functions.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace patchio::probe {
namespace {

// Wrappers that give all functions the same signature, so that one loop measures them all.

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

constexpr bool Alone = false;
constexpr bool Together = true;

void AddReads(std::vector<Function>& all)
{
  using P = Pointer;
  using C = Completion;
  const auto add = [&all](const char* name, P where, C how, bool collective, BeginCall begin,
                       EndCall end = nullptr) {
    all.push_back({name, where, how, collective, false, false, begin, end});
  };
  add("read_at", P::Explicit, C::Blocking, Alone, AtBlocking<MPI_File_read_at>);
  add("read_at_all", P::Explicit, C::Blocking, Together, AtBlocking<MPI_File_read_at_all>);
  add("iread_at", P::Explicit, C::NonBlocking, Alone, AtStarting<MPI_File_iread_at>);
  add("iread_at_all", P::Explicit, C::NonBlocking, Together, AtStarting<MPI_File_iread_at_all>);
  add("read_at_all_begin", P::Explicit, C::Split, Together, AtSplit<MPI_File_read_at_all_begin>,
      Ending<MPI_File_read_at_all_end>);
  add("read", P::Individual, C::Blocking, Alone, Blocking<MPI_File_read>);
  add("read_all", P::Individual, C::Blocking, Together, Blocking<MPI_File_read_all>);
  add("iread", P::Individual, C::NonBlocking, Alone, Starting<MPI_File_iread>);
  add("iread_all", P::Individual, C::NonBlocking, Together, Starting<MPI_File_iread_all>);
  add("read_all_begin", P::Individual, C::Split, Together, Split<MPI_File_read_all_begin>,
      Ending<MPI_File_read_all_end>);
  add("read_shared", P::Shared, C::Blocking, Alone, Blocking<MPI_File_read_shared>);
  add("iread_shared", P::Shared, C::NonBlocking, Alone, Starting<MPI_File_iread_shared>);
  add("read_ordered", P::Shared, C::Blocking, Together, Blocking<MPI_File_read_ordered>);
  add("read_ordered_begin", P::Shared, C::Split, Together, Split<MPI_File_read_ordered_begin>,
      Ending<MPI_File_read_ordered_end>);
}

void AddWrites(std::vector<Function>& all)
{
  using P = Pointer;
  using C = Completion;
  const auto add = [&all](const char* name, P where, C how, bool collective, BeginCall begin,
                       EndCall end = nullptr) {
    all.push_back({name, where, how, collective, true, false, begin, end});
  };
  add("write_at", P::Explicit, C::Blocking, Alone, AtBlocking<MPI_File_write_at>);
  add("write_at_all", P::Explicit, C::Blocking, Together, AtBlocking<MPI_File_write_at_all>);
  add("iwrite_at", P::Explicit, C::NonBlocking, Alone, AtStarting<MPI_File_iwrite_at>);
  add("iwrite_at_all", P::Explicit, C::NonBlocking, Together, AtStarting<MPI_File_iwrite_at_all>);
  add("write_at_all_begin", P::Explicit, C::Split, Together, AtSplit<MPI_File_write_at_all_begin>,
      Ending<MPI_File_write_at_all_end>);
  add("write", P::Individual, C::Blocking, Alone, Blocking<MPI_File_write>);
  add("write_all", P::Individual, C::Blocking, Together, Blocking<MPI_File_write_all>);
  add("iwrite", P::Individual, C::NonBlocking, Alone, Starting<MPI_File_iwrite>);
  add("iwrite_all", P::Individual, C::NonBlocking, Together, Starting<MPI_File_iwrite_all>);
  add("write_all_begin", P::Individual, C::Split, Together, Split<MPI_File_write_all_begin>,
      Ending<MPI_File_write_all_end>);
  add("write_shared", P::Shared, C::Blocking, Alone, Blocking<MPI_File_write_shared>);
  add("iwrite_shared", P::Shared, C::NonBlocking, Alone, Starting<MPI_File_iwrite_shared>);
  add("write_ordered", P::Shared, C::Blocking, Together, Blocking<MPI_File_write_ordered>);
  add("write_ordered_begin", P::Shared, C::Split, Together, Split<MPI_File_write_ordered_begin>,
      Ending<MPI_File_write_ordered_end>);
}

void AddPosix(std::vector<Function>& all)
{
  for (const bool direct : {false, true}) {
    for (const bool write : {false, true}) {
      Function function;
      function.Name = std::string(write ? "pwrite" : "pread") + (direct ? "_direct" : "");
      function.Where = Pointer::Posix;
      function.Write = write;
      function.Direct = direct;
      all.push_back(function);
    }
  }
}

using Belongs = std::function<bool(const Function&)>;

const std::map<std::string, Belongs>& Groups()
{
  static const std::map<std::string, Belongs> groups = {
      {"all", [](const Function&) { return true; }},
      {"reads", [](const Function& f) { return !f.Write; }},
      {"writes", [](const Function& f) { return f.Write; }},
      {"explicit", [](const Function& f) { return f.Where == Pointer::Explicit; }},
      {"individual-pointer", [](const Function& f) { return f.Where == Pointer::Individual; }},
      {"shared", [](const Function& f) { return f.Where == Pointer::Shared; }},
      {"posix", [](const Function& f) { return f.Where == Pointer::Posix; }},
      {"collective", [](const Function& f) { return f.Collective; }},
      {"individual", [](const Function& f) { return !f.Collective && f.Where != Pointer::Posix; }},
      {"blocking", [](const Function& f) { return f.How == Completion::Blocking; }},
      {"nonblocking", [](const Function& f) { return f.How == Completion::NonBlocking; }},
      {"split", [](const Function& f) { return f.How == Completion::Split; }},
  };
  return groups;
}

bool IsMeant(const Function& function, const std::string& word)
{
  const auto group = Groups().find(word);
  return function.Name == word || (group != Groups().end() && group->second(function));
}

}  // namespace

const std::vector<Function>& AllFunctions()
{
  static const std::vector<Function> all = [] {
    std::vector<Function> functions;
    AddReads(functions);
    AddWrites(functions);
    AddPosix(functions);
    return functions;
  }();
  return all;
}

std::vector<Function> SelectFunctions(const std::vector<std::string>& words)
{
  for (const std::string& word : words) {
    const auto meant = [&word](const Function& function) { return IsMeant(function, word); };
    if (std::none_of(AllFunctions().begin(), AllFunctions().end(), meant)) {
      throw Error(
          fmt::format("Unknown function '{}'. Use names of MPI-IO functions without MPI_File_, pread or "
                      "pwrite, or groups: all, reads, writes, explicit, individual-pointer, shared, posix, "
                      "collective, individual, blocking, nonblocking, split.",
              word));
    }
  }
  std::vector<Function> selected;
  for (const Function& function : AllFunctions()) {
    const auto means = [&function](const std::string& word) { return IsMeant(function, word); };
    if (std::any_of(words.begin(), words.end(), means)) {
      selected.push_back(function);
    }
  }
  return selected;
}

}  // namespace patchio::probe
