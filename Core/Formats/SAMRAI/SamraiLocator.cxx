// From the catalog to the bytes in the processor_cluster files, which threads look into. The answer is the
// same for any number of threads.
#include "Formats/LocateTask.h"
#include "Formats/SAMRAI/SamraiFormat.h"
#include "Formats/SAMRAI/SamraiNames.h"
#include "Formats/SAMRAI/SamraiPatchLocator.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

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

/// Consecutive patches of one file, and where their values are.
struct Block
{
  std::size_t FirstRun = 0, EndRun = 0;
  LocationTable Found;
  std::string Fault;  ///< why nothing was found at all; empty: Found tells
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
    this->LocateBlocks();
    this->Merge();
    return std::move(this->Table);
  }

private:
  /// State that a thread keeps from block to block.
  struct BlockReader
  {
    explicit BlockReader(const Locator& of) : Locate(of.Data, of.Requests, of.Names) {}
    ClusterFile Cluster;
    SamraiPatchLocator Locate;
    int File = -1;
    std::string Fault;  ///< why the file cannot be opened; empty: it is open
  };

  void OrderRequests();
  void FindRuns();
  void MakeBlocks();
  void LocateBlocks();
  void LocateBlock(BlockReader& reader, Block& block);
  void TurnTo(BlockReader& reader, int file);
  void Merge();
  void MergeBlock(const Block& block);

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

void Locator::LocateBlocks()
{
  this->Storage = this->Task.FilesOf(this->Table.Files);
  tbb::enumerable_thread_specific<BlockReader> readers([this] { return BlockReader(*this); });
  this->Task.RunTasks(this->Blocks.size(), [&](std::size_t number) {
    Block& block = this->Blocks[number];
    try {
      this->LocateBlock(readers.local(), block);
    } catch (const std::exception& exception) {
      block.Fault = exception.what();  // out of memory, say
    }
  });
}

void Locator::LocateBlock(BlockReader& reader, Block& block)
{
  const int file = this->Runs[block.FirstRun].File;
  this->TurnTo(reader, file);
  block.Fault = reader.Fault;
  for (std::size_t r = block.FirstRun; r < block.EndRun && block.Fault.empty(); ++r) {
    reader.Locate.Locate(reader.Cluster, file, this->Runs[r].Begin, this->Runs[r].End, block.Found);
  }
}

void Locator::TurnTo(BlockReader& reader, int file)
{
  if (reader.File == file) {
    return;
  }
  reader.File = file;
  SharedFile& shared = this->Shared[static_cast<std::size_t>(file)];
  reader.Fault = CatchError([&] {
    const std::shared_ptr<Source::File> opened = this->Storage->Open(file);
    const auto read = [opened](std::uint64_t offset, void* into, std::size_t bytes) {
      opened->Read(offset, into, bytes);
    };
    reader.Cluster.Open(shared, read, fs::file_size(shared.Path));
  });
}

/// Brings all answers into the order of the patches.
void Locator::Merge()
{
  BlockReader again(*this);
  for (Block& block : this->Blocks) {
    const int file = this->Runs[block.FirstRun].File;
    if (this->Shared[static_cast<std::size_t>(file)].TooMany) {
      // Which threads came first must not show: now no lists of this file are made.
      block.Found = LocationTable();
      this->LocateBlock(again, block);
    }
    this->MergeBlock(block);
    block = Block();
  }
}

void Locator::MergeBlock(const Block& block)
{
  std::vector<std::size_t> requests;
  for (std::size_t r = block.FirstRun; r < block.EndRun; ++r) {
    requests.insert(requests.end(), this->Runs[r].Begin, this->Runs[r].End);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!block.Fault.empty()) {
      this->Table.Locations[requests[i]].Kind = Encoding::Missing;
      this->Table.Problems.push_back({requests[i], block.Fault});
    } else {
      this->Table.Locations[requests[i]] = AppendLocation(block.Found, block.Found.Locations[i], this->Table);
    }
  }
  for (const LocationProblem& problem : block.Found.Problems) {
    if (block.Fault.empty()) {
      this->Table.Problems.push_back({requests[problem.Request], problem.Message});
    }
  }
}

}  // namespace

LocationTable SamraiFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, requests, options).Run();
}

}  // namespace patchio::samrai
