#include "Write/ChannelOutput.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Write/SocketCommunicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

namespace patchio::output {

void WritingThread::Stop()
{
  std::deque<Job> dropped;  // destroyed without the lock
  {
    const std::lock_guard<std::mutex> guard(this->Lock);
    this->Ends = true;
    this->Changed.notify_all();
  }
  if (this->Worker.joinable()) {
    this->Worker.join();
  }
  const std::lock_guard<std::mutex> guard(this->Lock);
  dropped.swap(this->Jobs);
  this->Changed.notify_all();  // other threads may wait for the dropped jobs
}

void WritingThread::MakeRoom(std::uint64_t bytes)
{
  assert(bytes <= this->Most);
  this->WaitUntil([&] { return this->Used + bytes <= this->Most; });
}

void WritingThread::Add(std::uint64_t bytes, std::function<void()> job)
{
  const std::string fault = this->Asynchronous ? "" : CatchError(job);
  const std::lock_guard<std::mutex> guard(this->Lock);
  if (!this->Asynchronous) {
    this->Keep(fault);
    return;
  }
  this->Jobs.push_back({bytes, std::move(job)});
  this->Used += bytes;
  this->MostUsed = std::max(this->MostUsed, this->Used);
  if (!this->Worker.joinable()) {
    this->Worker = std::thread([this] { this->Run(); });
  }
  this->Changed.notify_all();
}

void WritingThread::Finish()
{
  this->WaitUntil([this] { return this->Jobs.empty(); });
}

void WritingThread::FinishInAnyTime()
{
  std::unique_lock<std::mutex> guard(this->Lock);
  this->Changed.wait(guard, [this] { return this->Jobs.empty(); });
}

std::string WritingThread::TakeFaults()
{
  const std::lock_guard<std::mutex> guard(this->Lock);
  return std::exchange(this->Faults, {});
}

void WritingThread::Keep(const std::string& fault)
{
  this->Faults += (this->Faults.empty() || fault.empty() ? "" : "\n") + fault;
}

void WritingThread::WaitUntil(const std::function<bool()>& holds)
{
  std::unique_lock<std::mutex> guard(this->Lock);
  if (!this->Changed.wait_for(guard, std::chrono::duration<double>(this->WaitSeconds), holds)) {
    throw Error(fmt::format(
        "The storage is too slow: {} of earlier steps ({} in total) took longer than {} s.",
        CountText(this->Jobs.size(), "write"), ByteText(static_cast<double>(this->Used)), this->WaitSeconds));
  }
}

void WritingThread::Run()
{
  std::unique_lock<std::mutex> guard(this->Lock);
  for (;;) {
    this->Changed.wait(guard, [this] { return this->Ends || !this->Jobs.empty(); });
    if (this->Ends) {
      return;
    }
    Job& job = this->Jobs.front();
    guard.unlock();
    const std::string fault = CatchError(job.Work);
    job.Work = {};  // frees the values without the lock
    guard.lock();
    this->Keep(fault);
    this->Used -= job.Bytes;
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

OutputConfig Checked(OutputConfig config)
{
  if (config.How == Mode::Ranks) {
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

bool IsIn(const std::string& path, const std::string& folder)
{
  std::error_code ignored;
  const auto whole = [&](const std::string& name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name, ignored), ignored).string() +
           "/";
  };
  return whole(path).rfind(whole(folder), 0) == 0;
}

/// The threads of all objects of this process, and the paths of their channels. The program never destroys
/// the map, because an object may end during the exit.
auto& Live = *new std::map<std::shared_ptr<WritingThread>, std::vector<std::string>>;
std::mutex LiveLock;

}  // namespace

ChannelOutput::ChannelOutput(const OutputConfig& config, Communicator& ranks, bool asynchronous)
    : Config(config),
      Ranks(ranks),
      Aside(!asynchronous      ? nullptr
            : ranks.Size() > 1 ? MakeSocketCommunicator(ranks, config.WaitSeconds)
                               : MakeSelfCommunicator()),
      Writer(std::make_shared<WritingThread>(config.Memory, config.WaitSeconds, asynchronous))
{
  std::vector<std::string> paths;
  for (const Channel& channel : this->Config.Channels) {
    this->Sinks.push_back(
        {MakeTarget(this->Writers(), channel), ThreadsFor(this->Config, channel, ranks.Size())});
    paths.push_back(channel.Path);
  }
  const std::lock_guard<std::mutex> guard(LiveLock);
  Live[this->Writer] = std::move(paths);
}

ChannelOutput::ChannelOutput(const OutputConfig& config, Communicator& ranks)
    : ChannelOutput(Checked(config), ranks, config.How == Mode::Thread)
{
}

ChannelOutput::~ChannelOutput()
{
  {
    const std::lock_guard<std::mutex> guard(LiveLock);
    Live.erase(this->Writer);
  }
  this->Writer->Stop();
}

std::vector<std::size_t> ChannelOutput::ChannelsFor(std::int64_t step) const
{
  std::vector<std::size_t> channels;
  for (std::size_t i = 0; i < this->Sinks.size(); ++i) {
    if (this->Config.Channels[i].Wants(step)) {
      channels.push_back(i);
    }
  }
  return channels;
}

void ChannelOutput::Await(const std::string& path)
{
  // This is a copy, so that other threads can use the list while this thread waits.
  const auto live = [] {
    const std::lock_guard<std::mutex> guard(LiveLock);
    return Live;
  }();
  for (const auto& [thread, paths] : live) {
    if (std::any_of(
            paths.begin(), paths.end(), [&](const std::string& folder) { return IsIn(path, folder); })) {
      CatchError([&writing = *thread] { writing.Finish(); });  // the writer reports a slow storage
    }
  }
}

void ChannelOutput::Write(std::size_t channel, container::StepToWrite step, std::uint64_t bytes,
    const std::function<container::HeldValues(ValueForm form)>& take)
{
  WritingThread& thread = *this->Writer;
  const bool packs = std::any_of(step.Compression.begin(), step.Compression.end(),
      [](FilterKind kind) { return kind != FilterKind::None; });
  const bool copies = thread.IsAsynchronous() && bytes <= this->Config.Memory;
  const bool inBatches =
      !thread.IsAsynchronous() && this->Config.Channels[channel].Format == TargetFormat::Container;
  bytes = copies ? bytes : 0;
  const std::int64_t number = step.Data.Step;
  std::vector<StepPart> parts(1);
  parts[0].Channel = channel;
  const std::string fault = CatchError([&] {
    RunOnAllRanks(this->Ranks, [&] {
      thread.MakeRoom(bytes);
      parts[0].Writes = this->TargetOf(channel).Prepare(std::move(step), {});
      parts[0].Values = take(copies ? ValueForm::Copies : inBatches ? ValueForm::Batches : ValueForm::Whole);
    });
  });
  if (!fault.empty()) {
    this->Lose(number, {channel});
    throw Error(fault);
  }
  this->WriteParts(number, std::move(parts), bytes);
  if (!copies || packs) {  // HDF5 compresses, and ParaView may use the same copy of the library
    thread.FinishInAnyTime();
  }
  this->ReportFaults();
}

/// Throws the faults of writing on all ranks together. All ranks have the same faults, but some ranks may
/// learn of them earlier than others.
void ChannelOutput::ReportFaults()
{
  const std::string faults = this->Ranks.AllGather(this->Writer->TakeFaults())[0];
  if (!faults.empty()) {
    throw Error(faults);
  }
}

void ChannelOutput::Finish()
{
  RunOnAllRanks(this->Ranks, [this] { this->Writer->Finish(); });
  this->ReportFaults();
}

std::string ChannelOutput::FinishHere()
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

/// Writes the part of a step to its channel. Collective: every writing rank calls it.
void ChannelOutput::WritePart(std::int64_t step, StepPart& part)
{
  const Sink& sink = this->Sinks[part.Channel];
  const auto check = [&] {
    if (!part.Fault.empty()) {
      throw Error(part.Fault);
    }
  };
  const std::string unprepared =
      CatchError([&] { sink.To->TakesParts() ? check() : RunOnAllRanks(this->Writers(), check); });
  if (!unprepared.empty()) {
    sink.To->Lose(step);
    throw Error(unprepared);
  }
  part.Writes(std::move(part.Values), sink.Threads);
}

void ChannelOutput::Lose(std::int64_t step, const std::vector<std::size_t>& channels)
{
  this->Writer->Add(0, [this, step, channels] {
    for (const std::size_t channel : channels) {
      this->Sinks[channel].To->Lose(step);
    }
  });
}

void ChannelOutput::Flush()
{
  this->Writer->Add(0, [this] {
    std::vector<std::string> faults;
    for (std::size_t i = 0; i < this->Sinks.size(); ++i) {
      const std::string fault = CatchError([&] { this->Sinks[i].To->Flush(this->Sinks[i].Threads); });
      faults.push_back(
          fault.empty() ? fault : fmt::format("Channel '{}': {}", this->Config.Channels[i].Name, fault));
    }
    ThrowFaults(faults);
  });
}

}  // namespace patchio::output
