// The parts of simulation output that need no ranks: configurations, windows, declarations, the writing
// thread. Testing/Simulation tests whole runs.
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Write/ChannelOutput.h"
#include "Write/Declaration.h"
#include "Write/OutputConfig.h"

#include "TestTools.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <map>
#include <numeric>
#include <thread>

namespace patchio::output {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const std::string& text)
{
  return testing::MessageOf([&] { ReadOutputConfig(text); });
}

}  // namespace

TEST(OutputConfig, TakesWhatIsGiven)
{
  const OutputConfig config = ReadOutputConfig(R"( {"mode": "direct", "memory": "1.5 kB", "wait seconds": 2.5,
    "threads": 7, "channels": [{"path": "a.ctl", "format": "grads", "variables": ["x", "y"], "overwrite": true,
    "windows": [{"first": 3, "last": 9, "every": 3}, {"first": 20}]}, {"path": "b.pio", "compress": "zstd",
    "ranks a file": 4, "name": "second"}]})");
  EXPECT_EQ(config.WriteMode, Mode::Direct);
  EXPECT_EQ(config.Memory, 1500u);
  EXPECT_EQ(config.WaitSeconds, 2.5);
  EXPECT_EQ(config.Threads, 7);
  ASSERT_EQ(config.Channels.size(), 2u);
  EXPECT_EQ(config.Channels[0].Format, TargetFormat::Grads);
  EXPECT_EQ(config.Channels[0].Variables, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(config.Channels[0].Overwrite);
  EXPECT_EQ(config.Channels[1].Name, "second");
  EXPECT_EQ(config.Channels[1].Compression, FilterType::Zstd);
  EXPECT_EQ(config.Channels[1].RanksPerFile, 4);
  std::vector<int> steps;
  for (int step = 0; step < 23; ++step) {
    if (config.Channels[0].WritesStep(step)) {
      steps.push_back(step);
    }
  }
  EXPECT_EQ(steps, (std::vector<int>{3, 6, 9, 20, 21, 22}));
  EXPECT_TRUE(config.Channels[1].WritesStep(0)) << "no window: every step";
}

TEST(OutputConfig, TakesASensor)
{
  const OutputConfig config =
      ReadOutputConfig(R"({"memory": "1000", "channels": [{"path": "a.h5", "format": "kwave",
    "cuboids": [{"lower": [0, 1, 2], "upper": [3, 4, 5]}, {"lower": [0, 0, 0], "upper": [0, 0, 0], "every": 6}],
    "points": [3, 1], "steps at once": 12, "flush after": 2.5, "windows": [{"first": 5, "last": 15, "every": 5}, {"last": 9}]},
    {"path": "b.h5", "format": "kwave", "points": [9], "windows": [{"last": 0}]}, {"path": "c.pio"}]})");
  const Channel& channel = config.Channels.at(0);
  ASSERT_EQ(channel.SensorCells.Cuboids.size(), 2u);
  EXPECT_EQ(channel.SensorCells.Cuboids[0].Cells, (Box{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(channel.SensorCells.Cuboids[0].Every, 1);
  EXPECT_EQ(channel.SensorCells.Cuboids[1].Every, 6);
  EXPECT_EQ(channel.SensorCells.Points, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(channel.StepsAtOnce, 12);
  EXPECT_EQ(channel.FlushSeconds, 2.5);
  EXPECT_EQ(channel.MostSteps(), 13);
  EXPECT_EQ(channel.Memory, 250u) << "half of it for both";
  EXPECT_EQ(config.Channels[2].Memory, 0u);
  EXPECT_EQ(config.Memory, 500u);
}

TEST(OutputConfig, KnowsUnitsOfMemory)
{
  for (const auto& [text, bytes] : std::map<std::string, std::uint64_t>{
           {"12", 12}, {"2MB", 2000000}, {"2 MiB", 2 << 20}, {"1 GB", 1000000000}}) {
    EXPECT_EQ(ReadOutputConfig("{\"memory\": \"" + text + "\"}").Memory, bytes) << text;
  }
  for (const char* text : {"", "MB", "-1 MB", "1 mb", "1 MB more", "1e30", "nan"}) {
    EXPECT_THAT(Refusal(std::string("{\"memory\": \"") + text + "\"}"), HasSubstr("memory")) << text;
  }
}

TEST(OutputConfig, SaysWhatIsWrong)
{
  const auto channel = [](const std::string& keys) { return R"({"channels": [{)" + keys + "}]}"; };
  const auto kwave = [&](const std::string& keys) {
    return channel(R"("path": "a.h5", "format": "kwave", )" + keys);
  };
  const auto cuboid = [](const char* every) {
    return std::string(R"({"lower": [0, 0, 0], "upper": [1, 1, 1], "every": )") + every + "}";
  };
  std::vector<std::pair<std::string, std::string>> cases{{"", "found an empty text"},
      {" \n", "found an empty text"}, {std::string("a\0b", 3), "without a zero byte"}, {"[]", "[]"},
      {"{} {}", "JSON"}, {R"({"threads": 1.5})", "1.5"}, {R"({"threads": "two"})", "two"},
      {R"({"threads": -1})", "or 0 for \"threads\", found -1"}, {R"({"wait seconds": 1e300})", "at most 1e9"},
      {R"({"mode": "swift"})", "direct, thread, ranks for"}, {R"({"io ranks": -1})", "io ranks"},
      {R"({"layout": "fair"})", "independent, shared for"}, {R"({"channels": {}})", "a list"},
      {R"({"channels": [3]})", "an object"}, {channel(""), "expected a \"path\""},
      {R"({"channels": [{"path": "a"}], "mode": "direct", "channels": []})",
          "found the key \"channels\" twice. Remove one"},
      {channel(R"("path": "\u0000.pio")"), "control characters"},
      {channel(R"("path": "a", "pathh": 1)"), "found \"pathh\""},
      {channel(R"("path": "a", "variables": [])"), "one or more different names"},
      {channel(R"("path": "a", "variables": ["v", "v"])"), "different names"},
      {channel(R"("path": "a", "windows": [{}, {"evry": 2}])"),
          "(channels 1, windows 2): expected the keys every, first, last, found \"evry\""},
      {channel(R"("path": "a", "windows": [{"last": 1, "last": 2}])"), "the key \"last\" twice"},
      {channel(R"("path": "a", "windows": [])"),
          "expected at least one window (omit the key \"windows\" to write every step)"},
      {channel(R"("path": "a", "windows": [{"first": 3, "last": 2}])"), "last step"},
      {channel(R"("path": "a", "windows": [{"every": 0}])"), "1 or more"},
      {channel(R"("path": "a.ctl")"), "if, and only if, the format is grads"},
      {channel(R"("path": "a", "format": "grads")"), "ends with .ctl"},
      {channel(R"("path": "a", "format": "kwave")"), "ends with .h5"},
      {channel(R"("path": "a", "start": "06:00Z01jun2017")"), "the format grads for"},
      {channel(R"("path": "a", "points": [1])"), "the format kwave for a sensor"},
      {channel(R"("path": "a.ctl", "format": "grads", "compress": "zstd")"), "the format container for"},
      {kwave(R"("name": "a")"), "found neither"}, {kwave(R"("points": [1])"), "\"last\""},
      {kwave(R"("points": [0], "windows": [{"last": 1}])"), "from 1"},
      {kwave(R"("points": [1], "windows": [{"last": 1}], "variables": ["Nt"])"),
          "(rename the variable, or write it to a container)"},
      {kwave(R"("points": [1], "windows": [{"last": 5}, {"first": 9}])"), "found a window without \"last\""},
      {kwave(R"("points": [1], "windows": [{"last": 1000000000000000}])"),
          "at most 1099511627776 steps for the format kwave, found 1000000000000001 steps"},
      {kwave(R"("cuboids": [{"lower": [0, 0, 0]}])"), "upper"},
      {kwave(R"("cuboids": [{"lower": [0, 1, 0], "upper": [9, 0, 0]}])"), "not below"},
      {kwave("\"cuboids\": [" + cuboid("3") + ", " + cuboid("2") + "]"), "2 and 3"},
      {kwave(R"("mask": "nomask.h5")"), "nomask.h5"}};
  for (const char* name : {"Nt", "dt", "a/b", "p_max"}) {
    cases.emplace_back(
        kwave(R"("points": [1], "windows": [{"last": 5}], "variables": [")" + std::string(name) + "\"]"),
        std::string("found \"") + name + "\": ");
  }
  for (const char* wrong : {R"("start": "2017-06-01")", R"("start": "24:00Z01jun2017")", R"("interval": "6")",
           R"("interval": "0hr")"}) {
    cases.emplace_back(channel(std::string(R"("path": "a.ctl", "format": "grads", )") + wrong), "such as");
  }
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(Refusal(text), HasSubstr(message)) << text;
  }
}

TEST(OutputConfig, TakesDatesThatExist)
{
  const auto starting = [](const std::string& start) {
    return R"({"channels": [{"path": "a.ctl", "format": "grads", "start": ")" + start + "\"}]}";
  };
  for (const char* date : {"00:00Z31feb2000", "00:00Z29feb2001", "00:00Z31apr2017", "00:00Z01jan0000",
           "24:00Z01jan2000", "00:00Z01jan2000\\nVARS 0"}) {
    EXPECT_THAT(Refusal(starting(date)), AllOf(HasSubstr("expected a time that exists"), HasSubstr(date)));
  }
  EXPECT_EQ(ReadOutputConfig(starting("00:00Z29feb2000")).Channels[0].Start, "00:00Z29feb2000");
}

namespace {

/// Returns the error message for a configuration of two channels with these paths.
std::string RefusalOfPaths(const std::string& one, const std::string& two)
{
  const auto channel = [](const std::string& path) {
    const bool kwave = path.find(".h5") != std::string::npos, grads = path.find(".ctl") != std::string::npos;
    return R"({"path": ")" + path + "\"" +
           (kwave ? R"(, "format": "kwave", "points": [1], "windows": [{"last": 3}], "cuboids": [{"lower": [0, 0, 0],
             "upper": [1, 1, 1]}, {"lower": [0, 0, 0], "upper": [1, 1, 1], "every": 2}])"
               : grads ? R"(, "format": "grads")"
                       : "") +
           "}";
  };
  return CatchError(
      [&] { ReadOutputConfig("{\"channels\": [" + channel(one) + ", " + channel(two) + "]}"); });
}

}  // namespace

/// With "overwrite", the second channel would remove the files of the first.
TEST(OutputConfig, ChannelsHaveFilesOfTheirOwn)
{
  const testing::TempFolder folder;
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_directory_symlink("real", folder / "link");
  const std::string real = folder / "real", link = folder / "link";
  for (const auto& [one, two] : std::vector<std::pair<std::string, std::string>>{{"a", "a"},
           {"a.h5", "./a.h5"}, {real + "/a.h5", link + "/a.h5"}, {real + "/a.ctl", real + "/b/../a.ctl"},
           {real + "/a.ctl", link + "/a.dat"}, {real + "/a.h5", link + "/a.points.h5"},
           {"a.every2.h5", "a.h5"}, {real + "/a.pio", link + "/a.pio/"}, {"a.pio", "a.pio/maps.ctl"},
           {link + "/new/a", real + "/new/./a"}}) {
    EXPECT_THAT(RefusalOfPaths(one, two), ::testing::AllOf(HasSubstr("found two channels that write to '"),
                                              HasSubstr("': 'channel 1' and 'channel 2'.")))
        << one << " " << two;
  }
  for (const auto& [one, two] : std::vector<std::pair<std::string, std::string>>{
           {"a.pio", "a.pio2"}, {real + "/a.h5", folder / "a.h5"}, {"a.ctl", "b.ctl"}, {"a.ctl", "a.h5"}}) {
    EXPECT_EQ(RefusalOfPaths(one, two), "") << one << " " << two;
  }
}

namespace {

DeclaredPatch PatchAt(int level, const Int3& lower, const Int3& upper)
{
  return {level, lower, upper};
}

}  // namespace

TEST(OutputDeclaration, PatchesComeByLevel)
{
  const auto alone = MakeSelfCommunicator();
  Declaration declared;
  declared.SetGrid(3, {0, 0, 0}, {1, 2, 4}, {{1, 1, 1}, {2, 2, 4}, {2, 2, 2}});
  declared.SetPatches(*alone, {PatchAt(1, {2, 2, 4}, {5, 5, 7}), PatchAt(0, {0, 0, 0}, {7, 7, 3})});
  const Catalog& data = declared.Data();
  ASSERT_EQ(data.Levels.size(), 2u) << "the third level has no patches now";
  EXPECT_EQ(data.Levels[1].Spacing, (Double3{0.5, 1, 1}));
  EXPECT_EQ(data.Patches[0].Level, 0);
  EXPECT_EQ(data.Patches[1].Cells.Lower, (Int3{2, 2, 4}));
  EXPECT_EQ(declared.LocalPatches(), (std::vector<int>{1, 0}));
  EXPECT_THAT(testing::MessageOf([&] {
    declared.SetPatches(*alone, {PatchAt(3, {0, 0, 0}, {1, 1, 1})});
  }),
      HasSubstr("level 3, but the grid has 3 levels"));
  EXPECT_THAT(testing::MessageOf([&] {
    declared.SetPatches(*alone, {PatchAt(0, {0, 0, 0}, {2000000000, 1, 1})});
  }),
      HasSubstr("expected cells between"));
  EXPECT_EQ(declared.Data().Patches.size(), 2u) << "those before stay";
}

TEST(OutputDeclaration, CopiesWhatIsInsideTheGhosts)
{
  const auto alone = MakeSelfCommunicator();
  for (const int dimension : {2, 3}) {
    for (const bool nodes : {false, true}) {
      Declaration declared;
      declared.SetGrid(dimension, {0, 0, 0}, {1, 1, 1}, {{1, 1, 1}});
      declared.SetPatches(*alone, {PatchAt(0, {0, 0, 0}, {3, 2, dimension == 3 ? 1 : 0})});
      declared.AddVariable(
          {"v", "", ElementType::Int32, 2, nodes ? Centering::Node : Centering::Cell, {1, 2, 3}});
      const int more = nodes ? 1 : 0;
      const Int3 inner{4 + more, 3 + more, dimension == 3 ? 2 + more : 1};
      const Int3 layers{1, 2, dimension == 3 ? 3 : 0};
      std::vector<int> outer, wanted;
      for (int k = -layers[2]; k < inner[2] + layers[2]; ++k) {
        for (int j = -layers[1]; j < inner[1] + layers[1]; ++j) {
          for (int i = -layers[0]; i < inner[0] + layers[0]; ++i) {
            const bool inside = i >= 0 && j >= 0 && k >= 0 && i < inner[0] && j < inner[1] && k < inner[2];
            for (const int component : {0, 1}) {
              outer.push_back(inside ? 1000 * k + 100 * j + 10 * i + component : -1);
              if (inside) {
                wanted.push_back(outer.back());
              }
            }
          }
        }
      }
      std::vector<int> copied(declared.BytesOf(0, 0) / sizeof(int));
      declared.CopyWithoutGhosts(0, 0, outer.data(), copied.data());
      EXPECT_EQ(copied, wanted) << dimension << (nodes ? " nodes" : " cells");
    }
  }
}

TEST(OutputDeclaration, RefusesVariablesThatCannotBe)
{
  Declaration declared;
  const auto add = [&](const DeclaredVariable& variable) {
    return testing::MessageOf([&] { declared.AddVariable(variable); });
  };
  declared.AddVariable({"a"});
  EXPECT_THAT(add({"a"}), HasSubstr("Two variables have the name 'a'"));
  EXPECT_THAT(add({""}), HasSubstr("Variable 1 has an empty name"));
  EXPECT_THAT(add({"b", "", ElementType::Float64, 0}), HasSubstr("0 components"));
  EXPECT_THAT(
      add({"c", "", ElementType::Float64, 1, Centering::Cell, {0, -1, 0}}), HasSubstr("-1 ghost layers"));
  EXPECT_EQ(declared.Variables().size(), 1u);
}

TEST(OutputDeclaration, SaysWhatIsWrongWithPatches)
{
  const auto alone = MakeSelfCommunicator();
  Declaration declared;
  const auto patches = [&](const std::vector<DeclaredPatch>& mine) {
    return testing::MessageOf([&] { declared.SetPatches(*alone, mine); });
  };
  declared.SetGrid(2, {0, 0, 0}, {1, 1, 1}, {{1, 1, 1}});
  EXPECT_THAT(patches({}), HasSubstr("at least one"));
  EXPECT_THAT(patches({PatchAt(0, {4, 0, 0}, {3, 0, 0})}), HasSubstr("cells 4 to 3 along axis 0"));
  EXPECT_THAT(patches({PatchAt(0, {0, 0, 5}, {3, 0, 5})}), HasSubstr("the grid does not have this axis"));
  EXPECT_THAT(patches({PatchAt(0, {0, 0, 0}, {3, 3, 0}), PatchAt(0, {0, 4, 0}, {99999999, 99999999, 0})}),
      HasSubstr("Rank 0 declared its patch 1, on level 0, with a box with too many cells, (0, 4, 0) to "
                "(99999999, 99999999, 0). "
                "Divide the patch into several patches."));
  EXPECT_THAT(patches({PatchAt(0, {0, 0, 0}, {3, 3, 0}), PatchAt(0, {9, 0, 0}, {9, 9, 0}),
                  PatchAt(0, {3, 3, 0}, {8, 8, 0})}),
      HasSubstr(
          "must not overlap, but on level 0 rank 0 has the cells (0, 0, 0) to (3, 3, 0), and rank 0 the "
          "cells (3, 3, 0) to (8, 8, 0)"));
  declared.SetPatches(*alone, {PatchAt(0, {0, 0, 0}, {3, 3, 0}), PatchAt(0, {4, 0, 0}, {8, 8, 0})});
  EXPECT_THAT(testing::MessageOf([&] {
    declared.SetGrid(2, {0, 0, 0}, {1, 0, 1}, {{1, 1, 1}});
  }),
      HasSubstr("along axis 1"));
}

TEST(WritingThread, KeepsTheOrderAndTheBound)
{
  std::vector<int> done;
  WritingThread thread(100, 60);
  for (int job = 0; job < 50; ++job) {
    const std::uint64_t bytes = 10 + job % 3 * 30;
    thread.WaitForMemory(bytes);
    thread.Add(bytes, [&done, job] {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      done.push_back(job);
    });
  }
  thread.Finish();
  std::vector<int> wanted(50);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(done, wanted);
  EXPECT_LE(thread.PeakMemory(), 100u);
  EXPECT_GT(thread.PeakMemory(), 70u) << "several wait at once";
}

TEST(WritingThread, KeepsFaults)
{
  WritingThread thread(100, 60);
  thread.Add(1, [] { throw Error("first"); });
  thread.Add(1, [] {});
  thread.Add(1, [] { throw Error("third"); });
  thread.Finish();
  EXPECT_EQ(thread.TakeFaults(), "first\nthird");
  EXPECT_EQ(thread.TakeFaults(), "");
}

/// Without a thread, Add() runs the job at once: later, the simulation's arrays would have other values.
TEST(WritingThread, NeedsNoThread)
{
  pthread_attr_t before, huge;
  ASSERT_EQ(::pthread_getattr_default_np(&before) + ::pthread_getattr_default_np(&huge), 0);
  ::pthread_attr_setstacksize(&huge, std::size_t(1) << 47);  // too large, so that no thread can start
  ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
  std::vector<int> done;
  WritingThread thread(100, 5);
  const std::string fault = CatchError([&] {
    thread.Add(60, [&] {
      done.push_back(1);
      throw Error("first");
    });
  });
  ::pthread_setattr_default_np(&before);
  EXPECT_EQ(fault, "");
  EXPECT_EQ(done, std::vector<int>{1});
  EXPECT_EQ(thread.TakeFaults(), "first");
  thread.WaitForMemory(100);
  thread.Add(100, [&] { done.push_back(2); });
  thread.Finish();
  EXPECT_EQ(done, (std::vector<int>{1, 2}));
}

TEST(WritingThread, DoesNotWaitForEver)
{
  std::atomic<bool> goOn{false};
  {
    WritingThread thread(100, 0.05);
    thread.Add(60, [&goOn] {
      while (!goOn) {
        std::this_thread::yield();
      }
    });
    EXPECT_THAT(testing::MessageOf([&] { thread.WaitForMemory(50); }), HasSubstr("too slow"));
    thread.WaitForMemory(40);
    EXPECT_THAT(testing::MessageOf([&] { thread.Finish(); }), HasSubstr("1 write"));
    goOn = true;
  }
}

TEST(WritingThread, WaitsForMemoryOfOthersAsLongAsItTakes)
{
  bool done = false;
  WritingThread thread(100, 0.001);
  thread.Add(0, [&done] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    done = true;
  });
  thread.FinishWithoutLimit();
  EXPECT_TRUE(done);
}

}  // namespace patchio::output
