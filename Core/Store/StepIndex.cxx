#include "Store/StepIndex.h"

#include "Base/ByteText.h"
#include "Base/Bytes.h"
#include "Base/RunOnAllRanks.h"
#include "Io/SharedProgress.h"
#include "Store/GroupedFile.h"

#include <algorithm>
#include <unordered_map>

namespace patchio {
namespace {

/// Requests that are located at once: enough to read each file once, not so many that memory matters.
constexpr std::uint64_t BatchRequests = 1 << 17;

/// Locates this rank's part of the patches. Its notes, and its first problem, go into `built`.
std::unique_ptr<IndexShardBuilder> LocateShard(Communicator& comm, const Format& format,
    const Catalog& catalog, int threads, const ProgressCallback& progress, BuiltIndex& built)
{
  const RowOrder order(catalog);
  const auto [begin, end] = PartOfRank(catalog.Patches.size(), comm.Rank(), comm.Size());
  auto builder = std::make_unique<IndexShardBuilder>(catalog, order, begin, end - begin);
  const std::uint64_t rows = BatchRequests / std::max<std::size_t>(catalog.Variables.size(), 1) + 1;
  for (std::uint64_t row = 0; row < builder->Rows(); row += rows) {
    const std::uint64_t count = std::min(rows, builder->Rows() - row);
    LocateOptions options{threads, true};
    if (progress) {
      options.Progress = [&, row](double fraction) {
        return progress((static_cast<double>(row) + fraction * static_cast<double>(count)) /
                        static_cast<double>(builder->Rows()));
      };
    }
    const LocationTable table = format.Locate(catalog, builder->Requests(row, count), options);
    builder->Add(row, table);
    for (const std::string& note : table.Notes) {
      if (std::find(built.Notes.begin(), built.Notes.end(), note) == built.Notes.end()) {
        built.Notes.push_back(note);
      }
    }
    if (built.FirstProblem.empty() && !table.Problems.empty()) {
      built.FirstProblem = table.Problems[0].Message;
    }
  }
  return builder;
}

/// The text of the first rank that has one.
std::string FirstOf(Communicator& comm, const std::string& mine)
{
  for (const std::string& text : comm.AllGather(mine)) {
    if (!text.empty()) {
      return text;
    }
  }
  return {};
}

/// Files of all ranks, each once, and the number that each of this rank's has among them.
std::vector<std::string> JoinFiles(
    Communicator& comm, const std::vector<std::string>& mine, std::vector<std::uint32_t>& numbers)
{
  std::vector<std::string> all;
  std::unordered_map<std::string, std::uint32_t> known;
  for (const std::string& ofRank : comm.AllGather(JoinTexts(mine))) {
    for (const std::string& name : SplitTexts(ofRank)) {
      if (known.emplace(name, static_cast<std::uint32_t>(all.size())).second) {
        all.push_back(name);
      }
    }
  }
  for (const std::string& name : mine) {
    numbers.push_back(known.at(name));
  }
  return all;
}

/// Looks at all files, each rank at a part of them.
void TakeFingerprints(Communicator& comm, BuiltIndex& built, int threads)
{
  struct Entry
  {
    std::uint64_t Size, Inode;
    std::int64_t Modified, Changed, There;
  };
  const std::vector<std::string>& files = built.Index.Index.Files();
  const auto [begin, end] = PartOfRank(files.size(), comm.Rank(), comm.Size());
  std::vector<Entry> mine;
  RunOnAllRanks(comm, [&, begin = begin, end = end] {
    for (const auto& state : StatesOf({files.begin() + begin, files.begin() + end}, threads)) {
      const FileState known = state.value_or(FileState{});
      mine.push_back(
          {known.Print.Size, known.Print.Inode, known.Print.Modified, known.Changed, state.has_value()});
    }
  });
  const std::vector<Entry> all = GatherValues(comm, mine);
  for (std::size_t i = 0; i < all.size(); ++i) {
    built.Index.Prints.push_back({all[i].Size, all[i].Modified, all[i].Inode});
    built.Changed.push_back(all[i].Changed);
    if (!all[i].There) {
      built.VanishedFile = files[i];
    }
  }
}

}  // namespace

std::string BuiltIndex::MissingText() const
{
  return CountText(this->Missing, "array") + " cannot be located. " + this->FirstProblem;
}

DescribingState LookAtDescribingFile(const std::string& path)
{
  DescribingState state;
  state.Now = NowInNanoseconds();
  state.Before = StateOf(path);
  return state;
}

std::optional<BuiltIndex> BuildIndex(Communicator& comm, const Format& format, const Catalog& catalog,
    const ChannelSettings& settings, const ProgressCallback& progress)
{
  BuiltIndex built;
  std::unique_ptr<IndexShardBuilder> builder;
  const bool done = RunUnlessStopped(comm, progress, [&](const ProgressCallback& goesOn) {
    builder = LocateShard(comm, format, catalog, settings.Threads, goesOn, built);
  });
  if (!done) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> numbers;
  const std::vector<std::string> files = JoinFiles(comm, builder->Files(), numbers);
  std::vector<std::byte> shard;
  RunOnAllRanks(comm, [&] { shard = builder->Finish(numbers); });
  for (const std::uint64_t missing : GatherValues<std::uint64_t>(comm, {builder->Missing()})) {
    built.Missing += missing;
  }
  built.FirstProblem = FirstOf(comm, built.FirstProblem);
  builder.reset();

  // The memory has the layout of the file.
  built.Lengths = GatherValues<std::uint64_t>(comm, {shard.size()});
  std::uint64_t bytes = 0;
  for (const std::uint64_t length : built.Lengths) {
    built.Offsets.push_back(bytes);
    bytes += (length + GroupedHead::Alignment - 1) / GroupedHead::Alignment * GroupedHead::Alignment;
  }
  built.Index.Memory = std::make_shared<StagedMemory>(comm, bytes, settings.Stage);
  built.Index.Memory->Gather(comm, built.Offsets, built.Lengths, shard.data());
  shard = {};
  RunOnAllRanks(comm, [&] {
    std::vector<ShardView> views;
    for (std::size_t r = 0; r < built.Lengths.size(); ++r) {
      views.push_back({built.Index.Memory->Data() + built.Offsets[r], built.Lengths[r]});
    }
    built.Index.Index = LocationIndex(catalog, files, views, built.Index.Memory);
  });
  TakeFingerprints(comm, built, settings.Threads);
  return built;
}

void DistrustYoungFiles(BuiltIndex& built, const DescribingState& describing, double settleSeconds)
{
  for (std::size_t i = 0; i < built.Changed.size(); ++i) {
    if (built.Changed[i] >= describing.Now - static_cast<std::int64_t>(settleSeconds * 1e9)) {
      built.Index.Prints[i] = {~std::uint64_t(0), -1, ~std::uint64_t(0)};  // of no file
    }
  }
}

}  // namespace patchio
