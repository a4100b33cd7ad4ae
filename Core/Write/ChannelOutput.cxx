#include "Write/ChannelOutput.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Tuning/Mount.h"
#include "Write/SocketCommunicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <map>
#include <utility>

namespace patchio::output {

void WritingThread::Stop()
{
  std::deque<Job> dropped;  // destroyed without the lock
  {
    const std::lock_guard<std::mutex> guard(this->Lock);
    this->Stopping = true;
    this->Changed.notify_all();
  }
  if (this->Worker.joinable()) {
    this->Worker.join();
  }
  const std::lock_guard<std::mutex> guard(this->Lock);
  dropped.swap(this->Jobs);
  this->Changed.notify_all();  // other threads may wait for the dropped jobs
}

void WritingThread::WaitForMemory(std::uint64_t bytes)
{
  assert(bytes <= this->MemoryLimit);
  this->WaitUntil([&] { return this->UsedBytes + bytes <= this->MemoryLimit; });
}

void WritingThread::Add(std::uint64_t bytes, std::function<void()> job)
{
  if (this->Asynchronous && !this->Worker.joinable()) {
    CatchError([this] { this->Worker = std::thread([this] { this->Run(); }); });
  }
  const bool runs = this->Worker.joinable();
  const std::string fault = runs ? "" : CatchError(job);
  const std::lock_guard<std::mutex> guard(this->Lock);
  if (!runs) {
    AppendText(this->Faults, fault);
    return;
  }
  this->Jobs.push_back({bytes, std::move(job)});
  this->UsedBytes += bytes;
  this->PeakBytes = std::max(this->PeakBytes, this->UsedBytes);
  this->Changed.notify_all();
}

void WritingThread::Finish()
{
  this->WaitUntil([this] { return this->Jobs.empty(); });
}

void WritingThread::FinishWithoutLimit()
{
  std::unique_lock<std::mutex> guard(this->Lock);
  this->Changed.wait(guard, [this] { return this->Jobs.empty(); });
}

std::string WritingThread::TakeFaults()
{
  const std::lock_guard<std::mutex> guard(this->Lock);
  return std::exchange(this->Faults, {});
}

void WritingThread::WaitUntil(const std::function<bool()>& condition)
{
  std::unique_lock<std::mutex> guard(this->Lock);
  if (!this->Changed.wait_for(guard, std::chrono::duration<double>(this->WaitSeconds), condition)) {
    throw Error(fmt::format(
        "The storage is too slow: PatchIO waited {} s for {} of earlier steps ({} in total). Raise "
        "\"wait seconds\" in the output configuration, or write less.",
        this->WaitSeconds, CountText(this->Jobs.size(), "write"),
        ByteText(static_cast<double>(this->UsedBytes))));
  }
}

void WritingThread::Run()
{
  std::unique_lock<std::mutex> guard(this->Lock);
  for (;;) {
    this->Changed.wait(guard, [this] { return this->Stopping || !this->Jobs.empty(); });
    if (this->Stopping) {
      return;
    }
    Job& job = this->Jobs.front();
    guard.unlock();
    const std::string fault = CatchError(job.Work);
    job.Work = {};  // frees the values without the lock
    guard.lock();
    AppendText(this->Faults, fault);
    this->UsedBytes -= job.Bytes;
    this->Jobs.pop_front();
    this->Changed.notify_all();
  }
}

void ThrowFaults(std::vector<std::string> faults)
{
  faults.erase(std::remove(faults.begin(), faults.end(), ""), faults.end());
  if (!faults.empty()) {
    throw Error(JoinLines(faults));
  }
}

namespace {

OutputConfig CheckedConfig(OutputConfig config)
{
  if (config.WriteMode == Mode::Ranks) {
    throw Error(
        "The mode \"ranks\" is only for simulations. Set \"mode\" in the output configuration to \"thread\" "
        "or \"direct\".");
  }
  for (const Channel& channel : config.Channels) {
    if (channel.Format == TargetFormat::Kwave) {
      throw FileError(channel.Path, "the format container or grads", "kwave, which only simulations support",
          "Change the output configuration");
    }
  }
  CheckPaths(config);  // the caller may have changed the paths after reading the configuration
  return config;
}

/// The writing threads of this process, and the paths of the channels that each thread writes. The program
/// never destroys the map, because a ChannelOutput may be destroyed during the exit of the program.
auto& LiveThreads = *new std::map<std::shared_ptr<WritingThread>, std::vector<std::string>>;
std::mutex LiveThreadsLock;

}  // namespace

ChannelOutput::ChannelOutput(const OutputConfig& config, Communicator& ranks, bool asynchronous)
    : Config(config),
      Ranks(ranks),
      ThreadRanks(!asynchronous      ? nullptr
                  : ranks.Size() > 1 ? MakeSocketCommunicator(ranks, config.WaitSeconds)
                                     : MakeSelfCommunicator()),
      Writer(std::make_shared<WritingThread>(config.Memory, config.WaitSeconds, asynchronous))
{
  std::vector<std::string> paths;
  for (const Channel& channel : this->Config.Channels) {
    this->Sinks.push_back(
        {MakeTarget(this->WritingRanks(), channel), ThreadsFor(this->Config, channel, ranks.Size())});
    paths.push_back(channel.Path);
  }
  const std::lock_guard<std::mutex> guard(LiveThreadsLock);
  LiveThreads[this->Writer] = std::move(paths);
}

ChannelOutput::ChannelOutput(const OutputConfig& config, Communicator& ranks)
    : ChannelOutput(CheckedConfig(config), ranks, config.WriteMode == Mode::Thread)
{
}

ChannelOutput::~ChannelOutput()
{
  {
    const std::lock_guard<std::mutex> guard(LiveThreadsLock);
    LiveThreads.erase(this->Writer);
  }
  this->Writer->Stop();
}

std::vector<std::size_t> ChannelOutput::ChannelsFor(std::int64_t step) const
{
  std::vector<std::size_t> channels;
  for (std::size_t i = 0; i < this->Sinks.size(); ++i) {
    if (this->Config.Channels[i].WritesStep(step)) {
      channels.push_back(i);
    }
  }
  return channels;
}

void ChannelOutput::WaitForWrites(const std::string& path)
{
  // A copy lets other threads use the map while this thread waits.
  const auto live = [] {
    const std::lock_guard<std::mutex> guard(LiveThreadsLock);
    return LiveThreads;
  }();
  const std::string resolved = ResolvedPath(path);
  for (const auto& [thread, paths] : live) {
    if (std::any_of(paths.begin(), paths.end(),
            [&](const std::string& folder) { return IsInFolder(resolved, ResolvedPath(folder)); })) {
      CatchError([&writing = *thread] { writing.Finish(); });  // the writer reports a slow storage
    }
  }
}

void ChannelOutput::Write(std::size_t channel, container::StepToWrite step, std::uint64_t bytes,
    const std::function<container::HeldValues(ValueForm form)>& getValues)
{
  WritingThread& thread = *this->Writer;
  const bool packs = std::any_of(step.Compression.begin(), step.Compression.end(),
      [](FilterType kind) { return kind != FilterType::None; });
  const bool copies = thread.IsAsynchronous() && bytes <= this->Config.Memory;
  const bool inBatches =
      !thread.IsAsynchronous() && this->Config.Channels[channel].Format == TargetFormat::Container;
  bytes = copies ? bytes : 0;
  const std::int64_t number = step.Data.Step;
  std::vector<StepPart> parts(1);
  parts[0].Channel = channel;
  const std::string fault = CatchError([&] {
    RunOnAllRanks(this->Ranks, [&] {
      thread.WaitForMemory(bytes);
      parts[0].Write = this->TargetOf(channel).Prepare(std::move(step), {});
      parts[0].Values = getValues(copies      ? ValueForm::Copies
                                  : inBatches ? ValueForm::Batches
                                              : ValueForm::Whole);
    });
  });
  if (!fault.empty()) {
    this->MarkLost(number, {channel});
    throw Error(fault);
  }
  this->WriteParts(number, std::move(parts), bytes);
  if (!copies || packs) {  // compressed values need HDF5, and ParaView may use the same library
    thread.FinishWithoutLimit();
  }
}

// The threads of all ranks have the same faults, but not at the same time: rank 0's faults are thrown.
void ChannelOutput::ThrowNewFaults()
{
  ThrowFault(this->Ranks.AllGather(this->Writer->TakeFaults())[0]);
}

void ChannelOutput::Finish()
{
  RunOnAllRanks(this->Ranks, [this] { this->Writer->Finish(); });
  this->ThrowNewFaults();
}

std::string ChannelOutput::FinishLocally()
{
  const std::string fault = CatchError([this] { this->Writer->Finish(); });
  return CatchError([&] { ThrowFaults({fault, this->Writer->TakeFaults()}); });
}

void ChannelOutput::WriteParts(std::int64_t step, std::vector<StepPart> parts, std::uint64_t bytes)
{
  this->Writer->Add(bytes, [this, step, parts = std::move(parts)]() mutable {
    std::vector<std::string> faults;
    for (StepPart& part : parts) {
      const std::string fault = CatchError([&] { this->WritePart(step, part); });
      const std::string& name = this->Config.Channels[part.Channel].Name;
      faults.push_back(
          fault.empty() || name.empty()
              ? fault
              : fmt::format("Step {} of the channel '{}' was not written. {}", step, name, fault));
    }
    ThrowFaults(faults);
  });
}

/// Writes the part of a step to its channel. Throws Error, the same on all ranks, if the write fails or a
/// rank could not prepare the part. If the target copies parts, only the ranks that could not prepare the
/// part throw for that reason. Collective: every writing rank calls it.
void ChannelOutput::WritePart(std::int64_t step, StepPart& part)
{
  const Sink& sink = this->Sinks[part.Channel];
  const auto check = [&] { ThrowFault(part.Fault); };
  const std::string unprepared = CatchError(
      [&] { sink.Destination->CopiesParts() ? check() : RunOnAllRanks(this->WritingRanks(), check); });
  if (!unprepared.empty()) {
    sink.Destination->MarkLost(step);
    throw Error(unprepared);
  }
  part.Write(std::move(part.Values), sink.Threads);
}

void ChannelOutput::MarkLost(std::int64_t step, const std::vector<std::size_t>& channels)
{
  this->Writer->Add(0, [this, step, channels] {
    for (const std::size_t channel : channels) {
      this->Sinks[channel].Destination->MarkLost(step);
    }
  });
}

void ChannelOutput::Flush()
{
  this->Writer->Add(0, [this] {
    std::vector<std::string> faults;
    for (std::size_t i = 0; i < this->Sinks.size(); ++i) {
      const std::string fault = CatchError([&] { this->Sinks[i].Destination->Flush(); });
      faults.push_back(
          fault.empty() ? fault : fmt::format("Channel '{}': {}", this->Config.Channels[i].Name, fault));
    }
    ThrowFaults(faults);
  });
}

}  // namespace patchio::output
