// From the catalog to the bytes in the processor_cluster files. Threads look into the files with PatchIO's
// index reader; where it meets something that it does not know, or that does not fit, the calling thread asks
// the HDF5 library. The answer is the same for any number of threads, and by the library alone, except for
// the notes on what the library was asked about, and for arrays of thousands of chunks, which the library
// does not list in reasonable time: by it alone they are left for it to read.
#include "Formats/LocateTask.h"
#include "Formats/SAMRAI/SamraiFormat.h"
#include "Formats/SAMRAI/SamraiIndexPatches.h"
#include "Formats/SAMRAI/SamraiLibraryPatches.h"
#include "Formats/SAMRAI/SamraiNames.h"
#include "Formats/SAMRAI/SamraiPatchLocator.h"
#include "Support/ByteText.h"
#include "Support/Error.h"

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <tuple>

namespace fs = std::filesystem;

namespace patchio::samrai {
namespace {

/// Consecutive requests of one patch.
struct PatchRun
{
  const std::size_t* Begin;
  const std::size_t* End;
  int File;  ///< index into LocationTable::Files
};

/// A patch that the library has to be asked about.
struct Refusal
{
  std::size_t Run;
  std::string Reason;  ///< what is unfamiliar; empty when something is wrong
};

/// Consecutive patches of one file, and what the index reader says about them.
struct Block
{
  std::size_t FirstRun = 0, EndRun = 0;
  LocationTable Found;  ///< of the patches that were not refused
  std::vector<Refusal> Refusals;
  bool Failed = false;  ///< all were refused
};

/// What is in a table, to go back to.
struct Mark
{
  explicit Mark(const LocationTable& table)
      : Locations(table.Locations.size()),
        Extents(table.Extents.size()),
        ChunkedArrays(table.ChunkedArrays.size()),
        Chunks(table.Chunks.size()),
        LibraryArrays(table.LibraryArrays.size())
  {
  }
  void GoBack(LocationTable& table) const
  {
    table.Locations.resize(this->Locations);
    table.Extents.resize(this->Extents);
    table.ChunkedArrays.resize(this->ChunkedArrays);
    table.Chunks.resize(this->Chunks);
    table.LibraryArrays.resize(this->LibraryArrays);
    table.Problems.clear();
  }
  std::size_t Locations, Extents, ChunkedArrays, Chunks, LibraryArrays;
};

class Locator
{
public:
  Locator(const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options)
      : Data(catalog), Requests(requests), Options(options), Names(NamesOfComponents(catalog))
  {
    this->Table.Locations.resize(requests.size());
  }

  LocationTable Run()
  {
    this->OrderRequests();
    this->FindRuns();
    this->MakeBlocks();
    if (!this->Options.LibraryOnly) {
      this->AskIndex();
    }
    this->Merge();
    this->WriteNotes();
    return std::move(this->Table);
  }

private:
  /// What a thread keeps from block to block.
  struct BlockReader
  {
    explicit BlockReader(const Locator& of) : Locate(of.Data, of.Requests, of.Names) {}
    SamraiIndexPatches Patches;
    SamraiPatchLocator Locate;
    int File = -1;
    bool Sound = false;     ///< the file could be opened
    std::string FileFault;  ///< if it is unfamiliar as a whole
  };

  void OrderRequests();
  void FindRuns();
  void MakeBlocks();
  void AskIndex();
  void AskIndex(BlockReader& reader, Block& block);
  void TurnTo(BlockReader& reader, int file);
  void Merge();
  bool AskLibrary(const PatchRun& run);
  void Append(const PatchRun& run, const LocationTable& found, std::size_t first);
  void NoteRefusal(int file, const std::string& reason);
  void WriteNotes();

  const Catalog& Data;
  const std::vector<PatchVariable>& Requests;
  const LocateOptions Options;
  const ComponentNames Names;
  LocationTable Table;

  std::vector<std::size_t> Order;  ///< requests with bytes, by file and patch
  std::vector<PatchRun> Runs;
  std::vector<Block> Blocks;
  std::deque<SharedFile> Shared;  ///< one for each file
  LocateTask Task{this->Options};
  std::unique_ptr<Source> Storage;

  std::unique_ptr<SamraiLibraryPatches> Library;
  int LibraryFile = -1;
  std::string LibraryFault;

  int LastNoted = -1;                                      ///< file
  std::vector<std::pair<std::string, std::size_t>> Noted;  ///< reasons, and how many files
};

/// Answers what the catalog alone can answer, and orders the rest by file and patch.
void Locator::OrderRequests()
{
  using Key = std::tuple<int, int, std::size_t>;  // file, patch, request
  std::vector<Key> keys;
  keys.reserve(this->Requests.size());
  for (std::size_t i = 0; i < this->Requests.size(); ++i) {
    const auto [patch, variable] = this->Requests[i];
    const Presence presence = this->Data.PresenceOf(variable, patch);
    if (presence == Presence::Stored) {
      keys.emplace_back(this->Data.Patches[patch].File, patch, i);
    } else if (presence != Presence::Absent) {
      this->Table.Locations[i].Kind = Encoding::Constant;
      this->Table.Locations[i].Value = presence == Presence::One ? 1.0f : 0.0f;
    }
  }
  if (!std::is_sorted(keys.begin(), keys.end())) {
    std::sort(keys.begin(), keys.end());
  }
  this->Order.reserve(keys.size());
  for (const Key& key : keys) {
    this->Order.push_back(std::get<2>(key));
  }
}

void Locator::FindRuns()
{
  const fs::path folder = fs::path(this->Data.Path).parent_path();
  const std::size_t* const end = this->Order.data() + this->Order.size();
  int last = -1;
  for (const std::size_t* begin = this->Order.data(); begin != end;) {
    const int patch = this->Requests[*begin].Patch;
    const int file = this->Data.Patches[patch].File;
    if (this->Table.Files.empty() || file != last) {
      this->Table.Files.push_back((folder / ClusterName(file)).string());
      this->Shared.emplace_back().Path = this->Table.Files.back();
      last = file;
    }
    const std::size_t* const next =
        std::find_if(begin, end, [&](std::size_t i) { return this->Requests[i].Patch != patch; });
    this->Runs.push_back({begin, next, static_cast<int>(this->Table.Files.size()) - 1});
    begin = next;
  }
}

void Locator::MakeBlocks()
{
  // Enough blocks for the threads to end together, and few enough that what is done once a block does not
  // count.
  const std::size_t threads = static_cast<std::size_t>(std::max(this->Options.Threads, 1));
  const std::size_t most = std::clamp<std::size_t>(this->Runs.size() / (threads * 8), 4, 512);
  for (std::size_t begin = 0; begin < this->Runs.size();) {
    std::size_t end = begin + 1;
    while (end < this->Runs.size() && end - begin < most && this->Runs[end].File == this->Runs[begin].File) {
      ++end;
    }
    Block& block = this->Blocks.emplace_back();
    block.FirstRun = begin;
    block.EndRun = end;
    begin = end;
  }
}

void Locator::AskIndex()
{
  this->Storage = this->Task.FilesOf(this->Table.Files);
  tbb::enumerable_thread_specific<BlockReader> readers([this] { return BlockReader(*this); });
  this->Task.RunTasks(this->Blocks.size(), [&](std::size_t block) {
    try {
      this->AskIndex(readers.local(), this->Blocks[block]);
    } catch (const std::exception&) {
      this->Blocks[block].Failed = true;  // out of memory, say: the library is asked one by one
    }
  });
}

void Locator::AskIndex(BlockReader& reader, Block& block)
{
  const int file = this->Runs[block.FirstRun].File;
  this->TurnTo(reader, file);
  for (std::size_t r = block.FirstRun; r < block.EndRun; ++r) {
    if (!reader.Sound) {
      block.Refusals.push_back({r, reader.FileFault});
      continue;
    }
    const PatchRun& run = this->Runs[r];
    const Mark before(block.Found);
    try {
      reader.Locate.Locate(reader.Patches, file, run.Begin, run.End, block.Found);
      if (block.Found.Problems.empty()) {
        continue;
      }
      block.Refusals.push_back({r, {}});
    } catch (const hdf5index::Unfamiliar& unfamiliar) {
      block.Refusals.push_back({r, unfamiliar.what()});
    }
    before.GoBack(block.Found);
  }
}

void Locator::TurnTo(BlockReader& reader, int file)
{
  if (reader.File == file) {
    return;
  }
  reader.File = file;
  reader.Sound = false;
  reader.FileFault.clear();
  SharedFile& shared = this->Shared[static_cast<std::size_t>(file)];
  try {
    reader.Patches.Open(shared, this->Storage->Open(file), fs::file_size(shared.Path));
    reader.Sound = true;
  } catch (const hdf5index::Unfamiliar& unfamiliar) {
    reader.FileFault = unfamiliar.what();
  } catch (const Error&) {
    // The library says what is wrong.
  } catch (const fs::filesystem_error&) {
  }
}

/// Brings all answers into the order of the patches, whichever reader gave them.
void Locator::Merge()
{
  for (Block& block : this->Blocks) {
    std::size_t location = 0;
    auto refusal = block.Refusals.begin();
    for (std::size_t r = block.FirstRun; r < block.EndRun; ++r) {
      const PatchRun& run = this->Runs[r];
      const bool refused = refusal != block.Refusals.end() && refusal->Run == r;
      const bool tooMany = this->Shared[static_cast<std::size_t>(run.File)].TooMany;
      if (this->Options.LibraryOnly || block.Failed) {
        this->AskLibrary(run);
      } else if (refused || tooMany) {
        // Where the library finds a problem, that says enough.
        if (this->AskLibrary(run)) {
          this->NoteRefusal(run.File, tooMany ? MoreChunksThanFit : refusal->Reason);
        }
      } else {
        this->Append(run, block.Found, location);
      }
      if (refused) {
        ++refusal;
      } else {
        location += static_cast<std::size_t>(run.End - run.Begin);
      }
    }
    block = Block();
  }
}

/// False when something is wrong with the patch.
bool Locator::AskLibrary(const PatchRun& run)
{
  this->Task.Tell(1);
  LocationTable found;
  try {
    if (this->LibraryFile != run.File) {
      this->LibraryFile = run.File;
      this->Library.reset();
      this->LibraryFault.clear();
      this->Library =
          std::make_unique<SamraiLibraryPatches>(this->Table.Files[static_cast<std::size_t>(run.File)]);
    }
    if (this->Library) {
      SamraiPatchLocator(this->Data, this->Requests, this->Names)
          .Locate(*this->Library, run.File, run.Begin, run.End, found);
    }
  } catch (const std::exception& error) {
    this->Library.reset();
    this->LibraryFault = error.what();
  }
  if (this->Library) {
    this->Append(run, found, 0);
    for (const LocationProblem& problem : found.Problems) {
      this->Table.Problems.push_back({run.Begin[problem.Request], problem.Message});
    }
    return found.Problems.empty();
  }
  for (const std::size_t* request = run.Begin; request != run.End; ++request) {
    this->Table.Locations[*request].Kind = Encoding::Missing;
    this->Table.Problems.push_back({*request, this->LibraryFault});
  }
  return false;
}

/// Takes over the locations of a patch, which begin at `first` in `found`, with all that they refer to.
void Locator::Append(const PatchRun& run, const LocationTable& found, std::size_t first)
{
  for (const std::size_t* request = run.Begin; request != run.End; ++request, ++first) {
    this->Table.Locations[*request] = AppendLocation(found, found.Locations[first], this->Table);
  }
}

/// Keeps the first reason of each file.
void Locator::NoteRefusal(int file, const std::string& reason)
{
  if (reason.empty() || file == this->LastNoted) {
    return;
  }
  this->LastNoted = file;
  const auto known = std::find_if(
      this->Noted.begin(), this->Noted.end(), [&](const auto& noted) { return noted.first == reason; });
  if (known != this->Noted.end()) {
    ++known->second;
  } else {
    this->Noted.emplace_back(reason, 1);
  }
}

void Locator::WriteNotes()
{
  for (const auto& [reason, files] : this->Noted) {
    this->Table.Notes.push_back(
        fmt::format("PatchIO reads {} through the HDF5 library: {}", CountText(files, "file"), reason));
  }
}

}  // namespace

LocationTable SamraiFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, requests, options).Run();
}

}  // namespace patchio::samrai
