// Writes during the following steps, for ThreadSanitizer.
#include "Base/Stopwatch.h"
#include "Formats/Container/ContainerLog.h"
#include "Formats/KWave/KwaveFile.h"
#include "TestTools.h"
#include "Write/ChannelOutput.h"
#include "Write/SensorWriter.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>

using namespace patchio;
using namespace patchio::output;
using patchio::testing::TempFolder;

namespace {

Catalog OneBox()
{
  Catalog data;
  data.Levels.resize(1);
  data.Levels[0].PatchCount = 1;
  data.Patches.emplace_back().Cells = {{0, 0, 0}, {9, 9, 9}};
  data.Variables.emplace_back().Name = "p";
  data.ResetPresence();
  data.SetPresence(0, 0, Presence::Stored);
  return data;
}

/// Writes steps of a sensor with three points, with these settings of its channel.
class SensorSteps
{
public:
  SensorSteps(const std::string& path, const std::string& more)
      : Config(ReadOutputConfig(
            R"({"channels": [{"path": ")" + path +
            R"(", "format": "kwave", "points": [1, 1000, 500], "windows": [{"last": 99}], )" + more + "}]}")),
        Writer(*this->Alone, this->Config.Channels[0])
  {
    Declaration declared;
    declared.SetGrid(3, {0, 0, 0}, {1, 1, 1}, {{1, 1, 1}});
    declared.SetPatches(*this->Alone, {{0, {0, 0, 0}, {9, 9, 9}}});
    this->Writer.LayOut(OneBox());
    this->Local->Declared = std::make_shared<const Declaration>(declared);
    this->Local->Runs = {{RunsIn(this->Writer.Portions()[0], 0, this->Local->Declared->Data(), {0})}};
    this->Local->ValueCounts = {{3}};
  }

  void Add(std::int64_t step)
  {
    SensorSample sample{step, step, 0.5 * step, this->Local, this->Writer.AcquireMemory(), {}};
    sample.Values[0] = {
        static_cast<float>(step), static_cast<float>(step + 100), static_cast<float>(step + 200)};
    this->Writer.Add(std::move(sample), 4);
  }

  void Flush() { this->Writer.Flush(); }

private:
  const std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
  const OutputConfig Config;
  SensorWriter Writer;
  const std::shared_ptr<LocalSensor> Local = std::make_shared<LocalSensor>();
};

std::int64_t StepsIn(const std::string& path)
{
  return kwave::KwaveFile(path).Integers("Nt", 1).at(0);
}

}  // namespace

TEST(OutputThreads, SensorsGatherStepsWhileOthersAreWritten)
{
  const TempFolder folder;
  SensorSteps steps(folder / "s.h5", R"("steps at once": 7)");
  for (std::int64_t step = 0; step < 50; ++step) {
    steps.Add(step);
  }
  steps.Flush();
  EXPECT_EQ(StepsIn(folder / "s.h5"), 50);
}

TEST(OutputThreads, SensorsDoNotGatherForLongerThanTheyMay)
{
  const TempFolder folder;
  SensorSteps steps(folder / "s.h5", R"("steps at once": 50, "flush after": 1e-9)");
  for (std::int64_t step = 0; step < 3; ++step) {
    steps.Add(step);
  }
  // The file shows this a little later.
  for (const Stopwatch waited; StepsIn(folder / "s.h5") < 3 && waited.Seconds() < 30;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(StepsIn(folder / "s.h5"), 3);
}

namespace {

/// Waits until the writer of `path` has two descriptors of the file, for numbers and for values, and makes
/// the first one fail.
void BreakFirstDescriptor(const std::string& path)
{
  std::set<int> found;
  for (const Stopwatch waited; found.size() < 2 && waited.Seconds() < 30;) {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code ignored;
      if (std::filesystem::read_symlink(entry.path(), ignored) == path) {
        found.insert(std::stoi(entry.path().filename()));
      }
    }
  }
  ASSERT_EQ(found.size(), 2u);
  const int broken = ::open(path.c_str(), O_RDONLY);
  ::dup2(broken, *found.begin());
  ::close(broken);
}

}  // namespace

/// Steps that are not in the file's numbers are lost, although their values are in the file.
TEST(OutputThreads, AFaultNamesTheStepsThatItLost)
{
  const TempFolder folder;
  const std::string path = std::filesystem::canonical(folder / "").string() + "/s.h5";
  for (const int count : {2, 4}) {
    SensorSteps steps(path, R"("steps at once": 2, "overwrite": true)");
    for (int step = 0; step < count; ++step) {
      steps.Add(step);
      if (step == 1) {
        BreakFirstDescriptor(path);
      }
    }
    EXPECT_THAT(patchio::testing::MessageOf([&] { steps.Flush(); }),
        ::testing::AllOf(::testing::HasSubstr("Writing steps 0 to 1 failed"),
            ::testing::Not(::testing::HasSubstr("steps 2 to 3"))));
    EXPECT_THAT(
        patchio::testing::MessageOf([&] { steps.Add(count); }), ::testing::HasSubstr("no later steps"));
  }
}

TEST(OutputThreads, CatalogsAreWrittenWhileTheNextOneComes)
{
  const TempFolder folder;
  const auto alone = MakeSelfCommunicator();
  for (const char* mode : {"thread", "direct"}) {
    const std::string path = folder / (std::string(mode) + ".pio");
    ChannelOutput output(ReadOutputConfig(std::string(R"({"memory": "20 kB", "mode": ")") + mode +
                                          R"(", "channels": [{"path": ")" + path + R"("}]})"),
        *alone);
    std::vector<double> values(1000);
    for (int step = 0; step < 20; ++step) {
      container::StepToWrite toWrite{OneBox(), {ElementType::Float64}, {}};
      toWrite.Data.Step = step;
      std::iota(values.begin(), values.end(), 1000.0 * step);
      // Every fifth step claims to be larger than the memory.
      output.Write(0, std::move(toWrite), step % 5 == 4 ? 30000 : 8000, [&](ValueForm form) {
        const bool copies = form == ValueForm::Copies;
        EXPECT_EQ(copies, std::string(mode) == "thread" && step % 5 != 4);
        EXPECT_EQ(form == ValueForm::Batches, std::string(mode) == "direct");
        const auto held = std::make_shared<std::vector<double>>(copies ? values : std::vector<double>());
        const container::HeldValues all{{{0, 0, copies ? held->data() : values.data()}}, held};
        return form == ValueForm::Batches ? container::HeldValues{{}, nullptr, [all] { return all; }} : all;
      });
    }
    ChannelOutput::WaitForWrites(path + "/index");
    output.Finish();
    EXPECT_EQ(output.FinishLocally(), "");
    EXPECT_TRUE(container::IsContainer(path));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), {}), 22) << "20 steps, index, writer";
  }
}

TEST(OutputThreads, OnlyReadersOfAPathWaitForItsWriter)
{
  const TempFolder folder;
  const auto alone = MakeSelfCommunicator();
  const auto open = [&](const std::string& name) {
    return std::make_unique<ChannelOutput>(
        ReadOutputConfig(R"({"channels": [{"path": ")" + (folder / name) + R"("}]})"), *alone);
  };
  auto slow = open("slow.pio");
  std::atomic<bool> progress{false};
  slow->Thread().Add(0, [&] {
    while (!progress) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  slow->Thread().Add(0, [] {});
  std::atomic<bool> hasWaited{false};
  std::thread reader([&] {
    ChannelOutput::WaitForWrites(folder / "slow.pio");
    hasWaited = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  open("other.pio");
  ChannelOutput::WaitForWrites(folder / "other.pio");
  EXPECT_FALSE(hasWaited);
  progress = true;
  slow.reset();  // a writer that ends releases its readers
  reader.join();
}

TEST(OutputThreads, WhatIsForSimulationsAloneIsRefused)
{
  const auto alone = MakeSelfCommunicator();
  const auto refusal = [&](const std::string& config) {
    return patchio::testing::MessageOf([&] { ChannelOutput(ReadOutputConfig(config), *alone); });
  };
  EXPECT_THAT(refusal(R"({"mode": "ranks"})"), ::testing::HasSubstr("only for simulations"));
  EXPECT_THAT(
      refusal(
          R"({"channels": [{"path": "a.h5", "format": "kwave", "points": [1], "windows": [{"last": 1}]}]})"),
      ::testing::HasSubstr("a.h5"));
}
