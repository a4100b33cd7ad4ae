#include "Write/CatalogOutput.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Write/OutputConfig.h"
#include "Write/SocketCommunicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

namespace patchio::output {
namespace {

OutputConfig Checked(OutputConfig config)
{
  if (config.How == Mode::Ranks) {
    throw Error(
        "Set \"mode\" in the output configuration to \"thread\" or \"direct\": only simulations support "
        "\"ranks\".");
  }
  for (const Channel& channel : config.Channels) {
    if (channel.Format == TargetFormat::Kwave) {
      throw FileError(channel.Path, "the format container or grads", "kwave, which only simulations support",
          "Change the output configuration");
    }
  }
  CheckPaths(config);  // the caller may have changed them since they were read
  return config;
}

bool IsIn(const std::string& path, const std::string& folder)
{
  std::error_code ignored;
  const auto whole = [&](const std::string& name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name, ignored), ignored).string() +
           "/";
  };
  return whole(path).rfind(whole(folder), 0) == 0;
}

std::mutex LiveLock;
std::set<CatalogOutput*> Live;  ///< all objects of this process

}  // namespace

CatalogOutput::CatalogOutput(OutputConfig config, Communicator& ranks)
    : Config(Checked(std::move(config))), Ranks(ranks), Writer(this->Config.Memory, this->Config.WaitSeconds)
{
  if (this->Config.How == Mode::Thread) {
    this->Aside =
        ranks.Size() > 1 ? MakeSocketCommunicator(ranks, this->Config.WaitSeconds) : MakeSelfCommunicator();
  }
  Communicator& writers = this->Aside ? *this->Aside : ranks;
  for (const Channel& channel : this->Config.Channels) {
    this->Sinks.push_back({MakeTarget(writers, channel), ThreadsFor(this->Config, channel, ranks.Size())});
  }
  const std::lock_guard<std::mutex> guard(LiveLock);
  Live.insert(this);
}

CatalogOutput::~CatalogOutput()
{
  const std::lock_guard<std::mutex> guard(LiveLock);
  Live.erase(this);
}

void CatalogOutput::Await(const std::string& path)
{
  const std::lock_guard<std::mutex> guard(LiveLock);
  for (CatalogOutput* const output : Live) {
    const std::vector<Channel>& channels = output->Channels();
    if (std::any_of(channels.begin(), channels.end(),
            [&](const Channel& channel) { return IsIn(path, channel.Path); })) {
      CatchError([&] { output->Writer.Finish(); });  // the writer reports a slow storage
    }
  }
}

void CatalogOutput::Write(std::size_t channel, container::StepToWrite step, std::uint64_t bytes,
    const std::function<HeldValues(bool copies)>& take)
{
  const Sink& sink = this->Sinks[channel];
  const bool packs = std::any_of(step.Compression.begin(), step.Compression.end(),
      [](FilterKind kind) { return kind != FilterKind::None; });
  const bool waits = bytes > this->Config.Memory;
  bytes = waits ? 0 : bytes;
  const std::int64_t number = step.Data.Step;
  const std::string before = fmt::format(
      "Step {} of the channel '{}' was not written. ", number, this->Config.Channels[channel].Name);
  std::shared_ptr<PendingStep> to;
  HeldValues values;
  const std::string fault = CatchError([&] {
    RunOnAllRanks(this->Ranks, [&] {
      this->Writer.MakeRoom(bytes);
      to = sink.To->Prepare(std::move(step));
      values = take(this->Aside && !waits);
    });
  });
  if (!fault.empty()) {
    const auto lose = [&target = *sink.To, number] { target.Lose(number); };
    this->Aside ? this->Writer.Add(0, lose) : lose();
    throw Error(fault);
  }
  const auto write = [to, values, before, threads = sink.Threads] {
    const std::string fault = CatchError([&] { to->Write(values.Mine, threads); });
    if (!fault.empty()) {
      throw Error(before + fault);
    }
  };
  if (!this->Aside) {
    write();
    return;
  }
  this->Writer.Add(bytes, write);
  if (waits || packs) {  // HDF5 compresses, and ParaView may use the same copy of the library
    this->Writer.FinishInAnyTime();
  }
  this->ThrowFaults();
}

/// Throws the faults of writing on all ranks together: they are the same on all ranks, but may appear on some
/// ranks earlier than on others.
void CatalogOutput::ThrowFaults()
{
  const std::string faults = this->Ranks.AllGather(this->Writer.TakeFaults())[0];
  if (!faults.empty()) {
    throw Error(faults);
  }
}

void CatalogOutput::Finish()
{
  RunOnAllRanks(this->Ranks, [this] { this->Writer.Finish(); });
  this->ThrowFaults();
}

std::string CatalogOutput::FinishHere()
{
  const std::string fault = CatchError([this] { this->Writer.Finish(); });
  const std::string others = this->Writer.TakeFaults();
  return fault.empty() || others.empty() ? fault + others : fault + "\n" + others;
}

}  // namespace patchio::output
