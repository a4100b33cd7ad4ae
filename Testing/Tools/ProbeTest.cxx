// Tests the parts of `patchio probe` that need no storage.
#include "../Core/Tools/TestTools.h"
#include "Probe/Circumstances.h"
#include "Probe/Curve.h"
#include "Probe/Functions.h"
#include "Probe/Interrupt.h"
#include "Probe/Measure.h"
#include "Probe/Progress.h"
#include "Probe/Quick.h"
#include "Probe/Result.h"
#include "Probe/Settings.h"
#include "Probe/TestData.h"
#include "Probe/TestFiles.h"

#include <nlohmann/json.hpp>

#include <signal.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace patchio::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using ::testing::SizeIs;
using testing::TempFolder;
using testing::WriteText;

// ---- curves
// --------------------------------------------------------------------------------------------------

/// Returns blocks of 4 KiB, 8 KiB, ... with rates of `law`, repeated with log-normal noise.
template <typename Law>
std::vector<CurvePoint> MakeCurve(int points, int repetitions, double noise, unsigned seed, Law law)
{
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, noise);
  std::vector<CurvePoint> curve;
  for (int i = 0; i < points; ++i) {
    CurvePoint point{std::uint64_t(4096) << i, {}};
    for (int r = 0; r < repetitions; ++r) {
      point.Rates.push_back(law(i) * std::exp(normal(random)));
    }
    curve.push_back(point);
  }
  return curve;
}

/// Returns a rate that rises and levels off, without a peak.
double Saturating(int i)
{
  const double block = 4096.0 * (1 << i);
  return block / (1e-4 + block / 1e9);
}

TEST(ProbeCurve, FindsNothingInNoise)
{
  int found = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    found += FindFeatures(MakeCurve(12, 3, 0.2, seed, [](int) { return 1e9; })).empty() ? 0 : 1;
  }
  // The documented probability is 1 %; the limit is three standard deviations of the binomial distribution
  // above it.
  EXPECT_LE(found, 20);
}

TEST(ProbeCurve, FindsNothingInSaturation)
{
  int found = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    found += FindFeatures(MakeCurve(14, 4, 0.08, seed, Saturating)).empty() ? 0 : 1;
  }
  EXPECT_LE(found, 8);
}

TEST(ProbeCurve, FindsPeaksAndDipsWhereTheyAre)
{
  int peaks = 0, dips = 0, others = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto law = [](int i) { return Saturating(i) * (i == 9 ? 1.5 : (i == 12 ? 0.6 : 1)); };
    for (const Feature& feature : FindFeatures(MakeCurve(15, 4, 0.04, seed, law))) {
      const bool peak = feature.Peak && feature.Index == 9 && feature.Block == 4096u << 9;
      const bool dip = !feature.Peak && feature.Index == 12;
      peaks += peak ? 1 : 0;
      dips += dip ? 1 : 0;
      others += peak || dip ? 0 : 1;
      if (dip) {
        EXPECT_NEAR(feature.Height, 0.6, 0.1);
      }
    }
  }
  EXPECT_GE(peaks, 195);
  EXPECT_GE(dips, 195);
  EXPECT_LE(others, 4);
}

TEST(ProbeCurve, SeesBroadPeaksOnce)
{
  const auto law = [](int i) { return 1e9 * (1 + std::exp(-0.2 * (i - 7) * (i - 7))); };
  const std::vector<Feature> features = FindFeatures(MakeCurve(15, 5, 0.02, 3, law));
  ASSERT_THAT(features, SizeIs(1));
  EXPECT_TRUE(features[0].Peak);
  EXPECT_NEAR(static_cast<double>(features[0].Index), 7, 1);
  EXPECT_NEAR(features[0].Height, 2, 0.15);
}

TEST(ProbeCurve, NeedsRepetitionsAndNeighbours)
{
  const auto law = [](int i) { return i == 2 ? 2e9 : 1e9; };
  EXPECT_THAT(FindFeatures(MakeCurve(5, 1, 0.01, 1, law)), IsEmpty());
  EXPECT_THAT(FindFeatures(MakeCurve(2, 9, 0.01, 1, law)), IsEmpty());
  EXPECT_THAT(FindFeatures({}), IsEmpty());
  EXPECT_THAT(FindFeatures(MakeCurve(3, 9, 0.01, 1, law)), IsEmpty());  // at the end
  EXPECT_THAT(FindFeatures(MakeCurve(4, 9, 0.01, 1, law)), SizeIs(1));
}

TEST(ProbeCurve, PassesOverWhatIsTooSmallToMatter)
{
  const auto law = [](int i) { return i == 2 ? 1.03e9 : 1e9; };
  EXPECT_THAT(FindFeatures(MakeCurve(5, 9, 1e-4, 1, law)), IsEmpty());
}

TEST(ProbeCurve, RefinesBetweenNeighbours)
{
  const std::vector<CurvePoint> curve = {{4096, {1}}, {65536, {1}}, {1048576, {1}}};
  const Feature feature{true, 1, 65536, 1.5, 2};
  EXPECT_THAT(RefinedBlocks(curve, feature, 1), ElementsAre(4096, 16384, 65536, 262144, 1048576));
  const std::vector<CurvePoint> odd = {{1000, {1}}, {1016, {1}}, {1024, {1}}};
  EXPECT_THAT(RefinedBlocks(odd, {true, 1, 1016, 1.5, 2}, 2), ElementsAre(1000, 1008, 1016, 1024));
}

// ---- values
// --------------------------------------------------------------------------------------------------

TEST(ProbePattern, IsTheSameHoweverItIsCut)
{
  const Pattern pattern(SeedOf(7));
  std::vector<std::byte> whole(1000), parts(1000);
  pattern.Fill(64, whole.data(), whole.size());
  for (std::size_t at = 0, step = 1; at < parts.size(); at += step, step = step % 13 + 1) {
    pattern.Fill(64 + at, parts.data() + at, std::min(step, parts.size() - at));
  }
  EXPECT_EQ(whole, parts);
  EXPECT_FALSE(pattern.FindWrongByte(64, whole.data(), whole.size()));
}

TEST(ProbePattern, FindsEveryWrongByte)
{
  const Pattern pattern(SeedOf(7));
  std::vector<std::byte> bytes(101);
  for (std::size_t wrong = 0; wrong < bytes.size(); ++wrong) {
    pattern.Fill(35, bytes.data(), bytes.size());
    bytes[wrong] ^= std::byte{0x10};
    EXPECT_EQ(pattern.FindWrongByte(35, bytes.data(), bytes.size()), wrong);
  }
}

TEST(ProbePattern, TellsWhereValuesAreFrom)
{
  std::byte word[8];
  for (const std::uint64_t offset :
      {std::uint64_t(0), std::uint64_t(8), std::uint64_t(123456) * 8, std::uint64_t(1) << 40}) {
    Pattern(SeedOf(3)).Fill(offset, word, 8);
    EXPECT_EQ(Pattern(SeedOf(3)).OffsetOf(word), offset);
    // Values of an earlier measurement are detected.
    EXPECT_GT(Pattern(SeedOf(4)).OffsetOf(word), std::uint64_t(1) << 42);
    EXPECT_TRUE(Pattern(SeedOf(4)).FindWrongByte(offset, word, 8));
  }
}

TEST(ProbeLayout, ViewsCoverTheFile)
{
  for (const View view : {View::Own, View::Whole, View::Interleaved}) {
    std::vector<int> seen(240);
    for (int rank = 0; rank < 3; ++rank) {
      const Layout layout{view, rank, 3, 240, 5};
      std::uint64_t last = 0, count = 0;
      for (std::uint64_t at = 0; at < layout.ViewBytes(); at += 16) {
        const std::uint64_t bytes = std::min<std::uint64_t>(16, layout.ViewBytes() - at);
        layout.ForEachRun(at, bytes, [&](const Layout::Run& run) {
          EXPECT_TRUE(count == 0 || run.FileOffset >= last);
          EXPECT_LE(run.Begin + run.Bytes, bytes);
          for (std::uint64_t i = 0; i < run.Bytes; ++i) {
            ++seen.at(run.FileOffset + i);
            // As in the paper, the ranks get pieces in turn.
            if (view == View::Interleaved) {
              EXPECT_EQ((run.FileOffset + i) / 5 % 3, rank);
            }
          }
          last = run.FileOffset + run.Bytes;
          count += run.Bytes;
        });
      }
      EXPECT_EQ(count, layout.ViewBytes());
    }
    EXPECT_THAT(seen, ::testing::Each(view == View::Whole ? 3 : 1));
  }
  EXPECT_EQ(DivisibleSize(1000, 3, 5), 960u);
  EXPECT_EQ(DivisibleSize(100, 3, 5), 0u);
}

TEST(ProbeTiling, TilesMustFollowEachOther)
{
  EXPECT_TRUE(AreContiguousFromZero({}));
  EXPECT_TRUE(AreContiguousFromZero({{16, 8}, {0, 16}, {24, 1}}));
  EXPECT_FALSE(AreContiguousFromZero({{8, 8}}));
  EXPECT_FALSE(AreContiguousFromZero({{0, 16}, {8, 8}, {16, 8}}));
  EXPECT_FALSE(AreContiguousFromZero({{0, 8}, {0, 8}}));
}

TEST(ProbeTiling, ShuffledFilesAreReadBack)
{
  const TempFolder folder;
  const Pattern pattern(5);
  const PatternBlocks layout{80, 32, 160};
  const auto write = [&](const std::vector<std::pair<std::uint64_t, std::size_t>>& blocks) {
    std::string text;
    for (const auto& [name, bytes] : blocks) {
      std::vector<std::byte> block(bytes);
      pattern.Fill(name, block.data(), bytes);
      text.append(reinterpret_cast<const char*>(block.data()), bytes);
    }
    WriteText(folder / "file", text);
  };
  const auto check = [&] { CheckShuffledBlocks(folder / "file", 5, layout, 160); };
  // Two ranks with blocks of 32, 32 and 16 bytes each.
  write({{80, 32}, {0, 32}, {64, 16}, {112, 32}, {144, 16}, {32, 32}});
  EXPECT_NO_THROW(check());
  write({{80, 32}, {0, 32}, {64, 16}, {112, 32}, {144, 16}, {0, 32}});
  EXPECT_THAT(MessageOf(check), HasSubstr("twice"));
  write({{88, 32}, {0, 32}, {64, 16}, {112, 32}, {144, 16}, {32, 32}});
  EXPECT_THAT(MessageOf(check), HasSubstr("no written block"));
  write({{80, 32}, {0, 32}, {64, 16}, {112, 32}, {144, 16}, {32, 24}});
  EXPECT_THAT(MessageOf(check), HasSubstr("the end of the file"));
  write({{80, 32}, {0, 32}, {64, 16}, {112, 32}, {144, 16}, {32, 8}, {0, 24}});
  EXPECT_THAT(MessageOf(check), HasSubstr("wrong value"));
}

TEST(ProbeTestFiles, AreWrittenAndRead)
{
  const TempFolder folder;
  WritePattern(folder / "file", 9, 5 << 20, 3 << 20);
  WritePattern(folder / "file", 9, 0, 5 << 20);
  EXPECT_EQ(std::filesystem::file_size(folder / "file"), 8u << 20);
  EXPECT_NO_THROW(CheckRange(folder / "file", 9, 0, 8 << 20));
  EXPECT_THAT(MessageOf([&] { CheckRange(folder / "file", 8, 0, 8); }), HasSubstr("wrong value"));
  EXPECT_THAT(MessageOf([&] { CheckRange(folder / "file", 9, 8 << 20, 8); }), HasSubstr("the end"));
  EXPECT_NO_THROW(DropFromPageCache(folder / "file"));
  const double resident = ResidentFraction(folder / "file");
  EXPECT_TRUE(resident == -1 || (resident >= 0 && resident <= 1)) << resident;
  EXPECT_THAT(MessageOf([&] { WritePattern("/proc/none", 1, 0, 1); }), HasSubstr("/proc/none"));
}

TEST(ProbeTestFiles, FolderNeedsRoomAndGoes)
{
  const TempFolder place;
  const auto self = MakeSelfCommunicator();
  std::string name;
  {
    TestFolder folder(*self, place.Path(), 1);
    name = folder.Path();
    WriteText(folder.File("data"), "x");
    WriteText(name + "/left_by_mpi", "x");
    EXPECT_TRUE(std::filesystem::exists(name));
  }
  EXPECT_FALSE(std::filesystem::exists(name));
  EXPECT_THAT(
      MessageOf([&] { TestFolder(*self, place.Path(), std::uint64_t(1) << 60); }), HasSubstr("free space"));
  EXPECT_THAT(MessageOf([&] { TestFolder(*self, place / "none", 1); }),
      HasSubstr((place / "none") + ": No such file or directory; expected a folder to measure. "));
}

TEST(ProbeInterrupt, RemovesFilesAtOnce)
{
  const TempFolder folder;
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_directory(folder / "full");
  WriteText(folder / "sub/data", "x");
  WriteText(folder / "full/other", "x");
  {
    const Interrupt interrupt;
    for (const char* name : {"full", "sub", "sub/none", "sub/data"}) {
      Interrupt::RemoveAtSignal(folder / name);
    }
    EXPECT_FALSE(Interrupt::Received());
    ::raise(SIGTERM);
    EXPECT_TRUE(Interrupt::Received());
    const Interrupt inner;
    EXPECT_TRUE(Interrupt::Received());
    EXPECT_FALSE(std::filesystem::exists(folder / "sub"));
    EXPECT_TRUE(std::filesystem::exists(folder / "full/other"));
    Interrupt::ForgetFiles();
  }
  const Interrupt again;
  EXPECT_FALSE(Interrupt::Received());
}

TEST(ProbeFunctions, ThatRomioInOpenMpiLacksAreKnown)
{
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  if (std::string(version).rfind("Open MPI", 0) != 0) {
    GTEST_SKIP() << "skipped: not Open MPI";
  }
  const auto lacking = [] {
    std::vector<std::string> names;
    for (const Function& function : AllFunctions()) {
      if (LibraryLacks(function, "/tmp")) {
        names.push_back(function.Name);
      }
    }
    return names;
  };
  const auto four = ElementsAre("iread_at_all", "iread_all", "iwrite_at_all", "iwrite_all");
  for (const char* choice : {"romio321", "^ompio"}) {
    ::setenv("OMPI_MCA_io", choice, 1);
    EXPECT_THAT(lacking(), four) << choice;
  }
  ::setenv("OMPI_MCA_io", "ompio", 1);
  EXPECT_THAT(lacking(), IsEmpty());
  ::unsetenv("OMPI_MCA_io");
}

// ---- choice
// --------------------------------------------------------------------------------------------------

TEST(ProbeFunctions, AreAllOfMpiIo)
{
  // The data access routines of the standard: 14 that read and 14 that write, split ones counted once.
  std::set<std::string> names;
  int reads = 0, writes = 0, collective = 0;
  for (const Function& function : AllFunctions()) {
    EXPECT_TRUE(names.insert(function.Name).second) << function.Name;
    const bool posix = function.Positioning == Pointer::Posix;
    EXPECT_EQ(function.Begin == nullptr, posix) << function.Name;
    EXPECT_EQ(function.End != nullptr, function.Synchronism == Completion::Split) << function.Name;
    EXPECT_EQ(function.Write, function.Name.find("write") != std::string::npos);
    reads += !posix && !function.Write ? 1 : 0;
    writes += !posix && function.Write ? 1 : 0;
    collective += function.Collective ? 1 : 0;
  }
  EXPECT_EQ(reads, 14);
  EXPECT_EQ(writes, 14);
  EXPECT_EQ(collective, 16);
}

std::vector<std::string> NamesOf(const std::vector<Function>& functions)
{
  std::vector<std::string> names;
  for (const Function& function : functions) {
    names.push_back(function.Name);
  }
  return names;
}

TEST(ProbeFunctions, AreChosenByNameAndGroup)
{
  EXPECT_THAT(NamesOf(SelectFunctions({"pwrite", "read_at", "read_at"})), ElementsAre("read_at", "pwrite"));
  EXPECT_THAT(SelectFunctions({"shared"}), SizeIs(8));
  EXPECT_THAT(SelectFunctions({"all"}), SizeIs(AllFunctions().size()));
  EXPECT_THAT(NamesOf(SelectFunctions({"read"})), ElementsAre("read"));
  EXPECT_THAT(MessageOf([] { SelectFunctions({"read", "raed"}); }), HasSubstr("'raed'"));
  EXPECT_THAT(MessageOf([] { ViewNamed("mine"); }), HasSubstr("'mine'"));
}

TEST(ProbeSettings, AreChecked)
{
  const auto refusal = [](void (*change)(Settings&), int rankCount = 2) {
    Settings settings;
    change(settings);
    return MessageOf([&] { CheckSettings(settings, rankCount); });
  };
  EXPECT_NO_THROW(CheckSettings(Settings(), 4));
  EXPECT_THAT(refusal([](Settings& s) { s.Blocks = {12}; }), HasSubstr("--blocks"));
  EXPECT_THAT(refusal([](Settings& s) { s.Blocks = {std::uint64_t(1) << 31}; }), HasSubstr("up to 1 GiB"));
  EXPECT_THAT(refusal([](Settings& s) { s.Blocks = {1u << 29}; }), HasSubstr("fits into the largest file"));
  EXPECT_THAT(refusal([](Settings& s) { s.Sizes = {1000}; }), HasSubstr("--sizes"));
  EXPECT_THAT(refusal([](Settings& s) { s.Sizes = {std::uint64_t(1) << 60}; }), HasSubstr("--sizes"));
  EXPECT_THAT(refusal([](Settings& s) { s.Repetitions = 0; }), HasSubstr("--repetitions"));
  EXPECT_THAT(refusal([](Settings& s) { s.Writers = 2; }), HasSubstr("--writers"));
  EXPECT_THAT(refusal([](Settings& s) { s.PieceBytes = 0; }), HasSubstr("--piece"));
  EXPECT_THAT(refusal([](Settings& s) { s.Budget = std::nan(""); }), HasSubstr("--budget"));
  EXPECT_THAT(refusal([](Settings& s) { s.Quick = s.Full = true; }), HasSubstr("--quick"));
  EXPECT_THAT(refusal([](Settings& s) {
    s.Full = true;
    s.GivenQuickOptions = {"--no-save", "--existing"};
  }),
      HasSubstr("--no-save, --existing"));
  EXPECT_THAT(refusal([](Settings& s) { s.QuickSeconds = std::nan(""); }), HasSubstr("--seconds"));
  EXPECT_THAT(refusal([](Settings& s) { s.QuickSeconds = 0.5; }), HasSubstr("--seconds"));
  EXPECT_THAT(refusal([](Settings& s) { s.QuickBytes = 1 << 10; }), HasSubstr("--test-bytes"));
  EXPECT_THAT(refusal([](Settings& s) { s.QuickBytes = ~std::uint64_t(0); }), HasSubstr("--test-bytes"));
}

TEST(ProbeProgress, NeverGoesBack)
{
  ::testing::internal::CaptureStderr();
  Progress bar(true);
  bar.SetRange(0, 0.8, 20);
  bar.Show(0.5, 10, "first");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(" 40 %, about 30 s left: first"));
  EXPECT_NEAR(bar.ShownFraction(), 0.4, 1e-9);
  bar.Show(1, 0, "first");
  bar.SetRange(0.8, 1);
  bar.Show(0, 20, "second");
  EXPECT_NEAR(bar.ShownFraction(), 0.8, 1e-9);
  bar.Show(0.5, 10, "second");
  EXPECT_NEAR(bar.ShownFraction(), 0.9, 1e-9);
  bar.Show(0.1, 10, "second");
  EXPECT_NEAR(bar.ShownFraction(), 0.9, 1e-9);
}

// ---- what is kept
// --------------------------------------------------------------------------------------------

/// Tests with a separate folder of profiles.
class ProbeKeep : public ::testing::Test
{
protected:
  ProbeKeep()
  {
    ::setenv("PATCHIO_PROFILE_DIR", (this->Folder / "profiles").c_str(), 1);
    ::setenv("PATCHIO_SITE_PROFILES", "", 1);
  }
  ~ProbeKeep() override
  {
    ::unsetenv("PATCHIO_PROFILE_DIR");
    ::unsetenv("PATCHIO_SITE_PROFILES");
  }

  StorageProfile MakeProfile(int best) const
  {
    StorageProfile profile;
    profile.StorageMount = MountOf(this->Folder.Path()).value();
    profile.Samples = {{1, 1e8, 0}, {best, 9e8, 0}, {4 * best, 5e8, 0}};
    profile.Fit = FitRates(profile.Samples);
    profile.Concurrency = best;
    profile.Node = NodeClass();
    profile.Ranks = 1;
    profile.MeasuredAt = 1790000000;  // 2026-09-21
    profile.ExpiresAt = CurrentUnixTime() + 1000;
    profile.Source = MeasuredSource;
    return profile;
  }

  std::string Said(const StorageProfile& profile, const std::string& doubt, bool force = false,
      const ConcurrencyRange& sure = {8, 16}) const
  {
    std::string text;
    for (const std::string& line : SaveIfReliable(profile, this->Folder.Path(), sure, doubt, force).Lines) {
      text += line + "\n";
    }
    return text;
  }

  int Best() const { return FindProfile(this->Folder.Path()).value().Concurrency; }

  TempFolder Folder;
};

TEST_F(ProbeKeep, SaysWhatItReplaces)
{
  EXPECT_THAT(this->Said(this->MakeProfile(16), ""), ::testing::Not(HasSubstr("replaces")));
  EXPECT_THAT(this->Said(this->MakeProfile(8), ""),
      HasSubstr("replaces a profile with N* = 16, measured on 2026-09-21. Now N* = 8."));
  EXPECT_EQ(this->Best(), 8);
}

TEST_F(ProbeKeep, LeavesABetterOne)
{
  // There is no better profile.
  EXPECT_THAT(this->Said(this->MakeProfile(16), "memory answered"),
      ::testing::AllOf(::testing::StartsWith("PatchIO has saved the profile: "),
          HasSubstr("The profile is not reliable, because memory answered.")));
  EXPECT_EQ(this->Best(), 16);
  EXPECT_THAT(this->Said(this->MakeProfile(8), "memory answered"),
      HasSubstr("The profile is not saved, because memory answered. The existing profile stays: N* = 16"));
  EXPECT_EQ(this->Best(), 16);
}

TEST_F(ProbeKeep, LeavesASurerOneUnlessForced)
{
  // Samples of one N differ by the noise, with equal parts above and below the rate.
  const auto profile = [this](int best, double noise, int passes) {
    StorageProfile result = this->MakeProfile(best);
    result.Samples.clear();
    for (int pass = 0; pass < passes; ++pass) {
      for (const int n : {1, 2, 4, 8, 16, 32, 64}) {
        const double rate = n < best ? 9e8 * n / best : 9e8;
        result.Samples.push_back({n, rate * (pass % 2 == 0 ? 1 + noise : 1 - noise), pass});
      }
    }
    result.Fit = FitRates(result.Samples);
    return result;
  };
  this->Said(profile(16, 0.02, 6), "");
  EXPECT_THAT(this->Said(profile(4, 0.2, 2), ""),
      HasSubstr("of the last probe only by 1 %. The existing profile stays: N* = 16"));
  EXPECT_EQ(this->Best(), 16);
  EXPECT_THAT(this->Said(profile(4, 0.2, 2), "", true), HasSubstr("PatchIO has saved the profile: "));
  EXPECT_EQ(this->Best(), 4);
  // First as uncertain as the existing profile, then more certain.
  EXPECT_THAT(this->Said(profile(8, 0.2, 2), ""), HasSubstr("replaces a profile with N* = 4"));
  EXPECT_THAT(this->Said(profile(32, 0.02, 4), ""), HasSubstr("replaces a profile with N* = 8"));
  EXPECT_EQ(this->Best(), 32);
}

TEST_F(ProbeKeep, KeepsNoGuessUnlessForced)
{
  const StorageProfile profile = this->MakeProfile(16);
  EXPECT_THAT(this->Said(profile, "", false, {1, 64}),
      ::testing::AllOf(
          ::testing::StartsWith("The profile is not saved, because the 90 % confidence interval of N* "
                                "is 1 to 64. This storage has no profile yet"),
          HasSubstr("Give more --seconds, or save the new profile anyway with --force")));
  EXPECT_FALSE(FindProfile(this->Folder.Path()).has_value());
  EXPECT_THAT(
      this->Said(profile, "", true, {1, 64}), ::testing::StartsWith("PatchIO has saved the profile: "));
  EXPECT_EQ(this->Best(), 16);
  EXPECT_THAT(this->Said(this->MakeProfile(4), "", false, {1, 5}),
      HasSubstr("The existing profile stays: N* = 16, measured on 2026-09-21"));
  EXPECT_THAT(this->Said(this->MakeProfile(4), "", false, {2, 8}), HasSubstr("Now N* = 4"));
}

TEST_F(ProbeKeep, SaysThatOneGivenByHandComesFirst)
{
  std::filesystem::create_directory(this->Folder / "profiles");
  const nlohmann::json hand = {
      {"mount", MountOf(this->Folder.Path()).value().Point}, {"best_concurrency", 5}};
  WriteText(this->Folder / "profiles/hand.json", hand.dump());
  const std::string said = this->Said(this->MakeProfile(16), "");
  EXPECT_THAT(said, HasSubstr("still uses "));
  EXPECT_THAT(said, HasSubstr("hand.json (N* = 5, given by hand)"));
  EXPECT_EQ(this->Best(), 5);
}

// ---- results
// -------------------------------------------------------------------------------------------------

nlohmann::json ReadJson(const std::string& path)
{
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

TEST(ProbeResult, IsWritten)
{
  const TempFolder folder;
  Result result;
  result.Complete = true;
  result.Label = "name \"with\" \xff odd letters";
  result.Warnings = {"careful"};
  result.Machine = {{"ranks", 2}};
  PointResult point;
  point.Key = {"read", View::Own, 1u << 20, 4096};
  point.Rates = {2e6, 1e6, 6e6};
  point.Seconds = {0.5, 1, 0.25};
  point.SyncSeconds = {0, 0, 0};
  point.Bytes = 1000000;
  result.Points[point.Key] = point;
  point.Key.Block = 8192;
  point.Rates = {4e6, 2e6, 12e6};
  result.Points[point.Key] = point;
  point.Key.FileBytes = 1u << 24;
  point.Rates = {6e6, 3e6, 18e6};
  result.Points[point.Key] = point;
  PointResult failed;
  failed.Key = {"read_shared", View::Own, 1u << 20, 512};
  failed.Error = "unsupported";
  failed.WrongValues = true;
  result.Points[failed.Key] = failed;
  result.Features.push_back({"read_at", View::Own, 1 << 20, {true, 1, 4096, 1.5, 2}, true,
      {true, 1, 8192, 1.4, 3}, {{4096, {1e6, 2e6}}, {8192, {3e6}}}});
  result.Influence.push_back({1 << 20, 4096, 1, 2, {1e6}, {2e6}, {5e5}, {4e5}});
  result.Scan.Samples = {{1, 1e6, 0}, {8, 3e6, 1}};
  result.Scan.RequestBytes = 1 << 20;
  result.Scan.Best = 8;
  result.Scan.Interval = {6, 11};
  result.Scan.Law = "a law";
  result.Scan.Fitted = {{1, 1.5e6, 0}};
  SaveResult(result, folder.Path());
  using J = nlohmann::json;
  const J back = ReadJson(folder / "result.json");
  EXPECT_EQ(back["schema"], "patchio-probe");
  EXPECT_EQ(back["version"], 1);
  EXPECT_EQ(back["complete"], true);
  EXPECT_EQ(back["label"], "name \"with\" \uFFFD odd letters");
  EXPECT_EQ(back["warnings"], J({"careful"}));
  EXPECT_EQ(back["machine"]["ranks"], 2);
  ASSERT_THAT(back["points"], SizeIs(4));
  EXPECT_EQ(back["points"][0]["kb_per_s"],
      J({{"min", 1000.0}, {"mean", 3000.0}, {"max", 6000.0}, {"all", {2000.0, 1000.0, 6000.0}}}));
  EXPECT_EQ(back["points"][0]["seconds"]["max"], 1.0);
  EXPECT_EQ(back["points"][3]["error"], "unsupported");
  EXPECT_EQ(back["points"][3]["wrong_values"], true);
  EXPECT_EQ(back["matrices"][0]["block_bytes"], J({512, 4096, 8192}));
  EXPECT_EQ(back["matrices"][0]["kb_per_s_mean"], J({{nullptr, 3000.0, 6000.0}, {nullptr, nullptr, 9000.0}}));
  EXPECT_EQ(back["matrices"][0]["seconds_max"], J({{nullptr, 1.0, 1.0}, {nullptr, nullptr, 1.0}}));
  EXPECT_EQ(back["features"][0]["again"]["block_bytes"], 8192);
  EXPECT_EQ(back["features"][0]["refined"][0]["kb_per_s"], J({1000.0, 2000.0}));
  EXPECT_EQ(back["influence"][0]["write_both_kb_per_s"], J::array({400.0}));
  EXPECT_EQ(back["influence"][0]["write_ratio"], 0.2);
  EXPECT_EQ(back["flight"]["samples"][1], J({{"in_flight", 8}, {"kb_per_s", 3000.0}, {"pass", 1}}));
  EXPECT_EQ(back["flight"]["best_most"], 11);
  std::ifstream table(folder / "matrices.csv");
  std::string head, line;
  std::getline(table, head);
  std::getline(table, line);
  EXPECT_EQ(head, "function,view,quantity,file_bytes,512,4096,8192");
  EXPECT_EQ(line, "read,own,kb_per_s_min,1048576,,1000,2000");
  EXPECT_THAT(MessageOf([&] { SaveResult(result, folder / "none"); }), HasSubstr("No such file"));
}

}  // namespace
}  // namespace patchio::probe
