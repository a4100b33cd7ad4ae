#include "Store/StepSidecar.h"

#include "Base/Checksum.h"
#include "Base/RunOnAllRanks.h"
#include "Catalog/CheckCatalog.h"
#include "Store/GroupedFile.h"
#include "Store/SidecarPath.h"
#include "Store/StepParts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace patchio {
namespace {

/// Why an index may not be saved.
struct Obstacle
{
  std::string Text;
  double SecondsToWait = -1;
};

/// Whether files changed too shortly before they were looked at.
std::optional<Obstacle> TooYoung(
    const BuiltIndex& built, const DescribingState& describing, double settleSeconds)
{
  std::int64_t youngest = describing.Before->Changed;
  for (const std::int64_t changed : built.Changed) {
    youngest = std::max(youngest, changed);
  }
  const auto settle = static_cast<std::int64_t>(settleSeconds * 1e9);
  if (youngest < describing.Now - settle) {
    return std::nullopt;
  }
  Obstacle obstacle{fmt::format("a file of the step changed less than {} s ago", settleSeconds), -1};
  const std::int64_t now = NowInNanoseconds();
  if (youngest <= now) {
    obstacle.SecondsToWait = static_cast<double>(youngest + settle - now) * 1e-9 + 0.05;
    obstacle.SecondsToWait = std::max(obstacle.SecondsToWait, 0.0);
  } else {
    obstacle.Text = "the modification time of a file of the step is in the future";
  }
  return obstacle;
}

/// Why the index may not be saved; an empty text when it may. For rank 0.
Obstacle FindObstacle(const Catalog& catalog, const BuiltIndex& built, const DescribingState& describing,
    const ChannelSettings& settings)
{
  if (built.Missing > 0) {
    return {built.MissingText(), -1};
  }
  const auto now = StateOf(catalog.Path);
  if (!built.VanishedFile.empty() || !describing.Before || !now || now->Print != describing.Before->Print) {
    return {"files of the step changed while they were read", -1};
  }
  if (const auto young = TooYoung(built, describing, settings.SettleSeconds)) {
    return *young;
  }
  std::vector<std::uint64_t> sizes;
  for (const Fingerprint& print : built.Index.Prints) {
    sizes.push_back(print.Size);
  }
  // What FindStepSidecar() would refuse need not be written.
  return {CatchError([&] {
            CheckCatalog(catalog);
            built.Index.Index.Check(catalog, sizes);
          }),
      -1};
}

/// Parts of the master, but for the first, which depends on where the sidecar is.
struct Contents
{
  StepHead First;
  std::vector<std::byte> Second;
  std::vector<PartEntry> Shards;  ///< on all ranks
};

/// Fills everything but the shards. For rank 0.
void FillContents(Contents& contents, const Format& format, const Catalog& catalog, const BuiltIndex& built,
    const DescribingState& describing)
{
  contents.First.FormatName = format.Name();
  contents.First.Described = describing.Before->Print;
  contents.First.Step = catalog.Step;
  contents.First.Time = catalog.Time;
  contents.Second = Encode(Describe(catalog, built.Index.Index.Files(), built.Index.Prints));
}

/// Writes one file. Throws Error, the same on all ranks.
void SaveAt(Communicator& comm, const SidecarPath& where, const Catalog& catalog, Contents& contents,
    const BuiltIndex& built)
{
  std::vector<std::vector<std::byte>> parts;
  std::vector<PartEntry> entries;
  std::string temporary;
  RunOnAllRanks(comm, [&] {
    if (comm.Rank() == 0) {
      contents.First.Path = where.Beside ? "" : AbsolutePath(catalog.Path);
      parts = {Encode(contents.First), contents.Second};
      for (const auto& part : parts) {
        entries.push_back({part.size(), 0, Checksum(part.data(), part.size())});
      }
      temporary = PrepareToReplace(where);
    }
  });
  entries = GatherValues(comm, entries);
  entries.insert(entries.end(), contents.Shards.begin(), contents.Shards.end());
  temporary = comm.AllGather(temporary)[0];
  try {
    WriteGrouped(comm, temporary, GroupedHead(entries), parts,
        built.Index.Memory->Data() + built.Offsets[comm.Rank()]);
  } catch (const Error& error) {
    if (comm.Rank() == 0) {
      std::remove(temporary.c_str());
    }
    throw Error(NameSidecar(error.what(), temporary, where));
  } catch (...) {
    if (comm.Rank() == 0) {
      std::remove(temporary.c_str());
    }
    throw;
  }
  RunOnAllRanks(comm, [&] {
    if (comm.Rank() == 0) {
      Replace(temporary, where);
    }
  });
}

}  // namespace

SaveOutcome SaveStepSidecar(Communicator& comm, const Format& format, const Catalog& catalog,
    BuiltIndex& built, const DescribingState& describing, const ChannelSettings& settings)
{
  SaveOutcome outcome;
  Contents contents;
  Obstacle obstacle;
  if (comm.Rank() == 0) {
    const std::string fault = CatchError([&] {
      obstacle = FindObstacle(catalog, built, describing, settings);
      if (obstacle.Text.empty()) {
        FillContents(contents, format, catalog, built, describing);
      }
    });
    if (!fault.empty()) {
      obstacle = {fault, -1};
    }
  }
  outcome.WhyNot = comm.AllGather(obstacle.Text)[0];
  outcome.SecondsToWait = comm.AllGather(std::vector<double>{obstacle.SecondsToWait})[0];
  if (!outcome.WhyNot.empty()) {
    return outcome;
  }
  const std::uint64_t length = built.Lengths[comm.Rank()];
  const std::byte* shard = built.Index.Memory->Data() + built.Offsets[comm.Rank()];
  contents.Shards = GatherValues<PartEntry>(comm, {{length, 0, Checksum(shard, length)}});
  std::vector<SidecarPath> paths;
  try {
    paths = SharedSidecarPathsFor(comm, catalog.Path);
  } catch (const Error& error) {
    outcome.WhyNot = error.what();  // all ranks have got it
  }
  for (const SidecarPath& where : paths) {
    if (where.OldName) {
      continue;
    }
    try {
      SaveAt(comm, where, catalog, contents, built);
      outcome.WhyNot.clear();
      outcome.Path = where.Path;
      return outcome;
    } catch (const Error& error) {
      outcome.WhyNot += (outcome.WhyNot.empty() ? "" : " ") + std::string(error.what());
    }
  }
  return outcome;
}

}  // namespace patchio
