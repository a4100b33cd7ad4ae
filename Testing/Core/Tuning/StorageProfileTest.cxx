#include "Tuning/StorageProfile.h"

#include "TestTools.h"

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

namespace patchio {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using testing::TempFolder;
using testing::WriteText;

constexpr double Now = 1.8e9;  ///< in January 2027
constexpr const char* MountInfo =
    "1 0 4000:1 / /proj rw - lustre mds:/fs rw\n"
    "2 1 4000:2 / /proj/other rw - nfs4 server:/other rw\n";

/// The law of the emulated storage with N* = 16.
double RateAt(int n)
{
  return n <= 16 ? 40e6 * n : 640e6 * std::sqrt(16.0 / n);
}

StorageProfile Measured()
{
  StorageProfile profile;
  profile.StorageMount.Point = "/proj";
  profile.StorageMount.Type = "lustre";
  profile.StorageMount.Source = "mds:/fs";
  profile.StorageMount.Options = "rw,flock";
  profile.StorageMount.Root = "/";
  profile.StorageMount.Major = 4000;
  profile.StorageMount.Minor = 1;
  profile.StorageMount.Class = MountClass::Parallel;
  profile.StorageMount.StripeCount = 8;
  for (int pass = 0; pass < 2; ++pass) {
    for (int n = 1; n <= 128; n *= 2) {
      profile.Samples.push_back({n, RateAt(n) * (1 + 0.02 * pass), pass});
    }
  }
  profile.Fit = FitRates(profile.Samples);
  profile.Concurrency = profile.Fit.Best();
  profile.CostOfRequest = {2e-3, 46e6};
  profile.BlockBytes = 896 << 10;
  profile.BestFunction = "pread";
  profile.Node = NodeClass();
  profile.Ranks = 4;
  profile.MeasuredAt = Now - 86400;
  profile.ExpiresAt = profile.MeasuredAt + ProfileLifetime;
  profile.Source = MeasuredSource;
  profile.Notes = {"a \"note\""};
  return profile;
}

class Profiles : public ::testing::Test
{
protected:
  Profiles()
  {
    WriteText(this->Folder / "mountinfo", MountInfo);
    for (const char* name : {"own", "site1", "site2"}) {
      std::filesystem::create_directory(this->Folder / name);
    }
    ::setenv("PATCHIO_PROFILE_DIR", (this->Folder / "own").c_str(), 1);
    const std::string sites = this->Folder / "site1" + "::" + this->Folder / "site2";
    ::setenv("PATCHIO_SITE_PROFILES", sites.c_str(), 1);
  }
  ~Profiles() override
  {
    for (const char* const name : {"PATCHIO_PROFILE_DIR", "PATCHIO_SITE_PROFILES", "XDG_CONFIG_HOME"}) {
      ::unsetenv(name);
    }
  }

  /// Writes a profile of /proj with these members.
  void Give(const std::string& file, const std::string& members) const
  {
    WriteText(this->Folder / file, R"({"mount": "/proj", )" + members + "}");
  }

  std::optional<StorageProfile> Find(const std::string& path, double now = Now)
  {
    this->Notes.clear();
    return FindProfile(path, &this->Notes, this->Folder / "mountinfo", now);
  }
  int BestFor(const std::string& path, double now = Now)
  {
    return this->Find(path, now).value_or(StorageProfile()).Concurrency;
  }

  TempFolder Folder;
  std::vector<std::string> Notes;
};

TEST_F(Profiles, ComeBackAsTheyWereSaved)
{
  const StorageProfile saved = Measured();
  const std::string file = SaveProfile(saved);
  EXPECT_THAT(file, HasSubstr(this->Folder / "own/proj-"));
  const StorageProfile found = this->Find("/proj/run1/dump").value();
  EXPECT_THAT(this->Notes, IsEmpty());
  EXPECT_EQ(found.File, file);
  const auto mountOf = [](const StorageProfile& profile) {
    const Mount& mount = profile.StorageMount;
    return std::make_tuple(mount.Point, mount.Type, mount.Source, mount.Options, mount.Major, mount.Minor,
        mount.Class, mount.StripeCount);
  };
  EXPECT_EQ(mountOf(found), mountOf(saved));
  const auto restOf = [](const StorageProfile& profile) {
    return std::make_tuple(profile.Concurrency, profile.Fit.Text(), profile.Samples.size(),
        profile.BlockBytes, profile.BestFunction, profile.Node, profile.Ranks, profile.MeasuredAt,
        profile.ExpiresAt, profile.Source, profile.Notes);
  };
  EXPECT_EQ(restOf(found), restOf(saved));
  EXPECT_DOUBLE_EQ(found.CostOfRequest->Latency, 2e-3);
  EXPECT_DOUBLE_EQ(found.CostOfRequest->Bandwidth, 46e6);
}

TEST_F(Profiles, AreFittedOnlyIfChosen)
{
  const std::string file = SaveProfile(Measured());
  const StorageProfile parsed = ParseProfiles(testing::ReadBytes(file), file).at(0);
  EXPECT_FALSE(parsed.Fit.Known()) << "a folder may have a thousand profiles";
  EXPECT_EQ(parsed.Concurrency, 16);
  EXPECT_TRUE(this->Find("/proj/x").value().Fit.Known());
}

TEST_F(Profiles, AreReplacedByNewerOnesAndLeaveNothingElse)
{
  StorageProfile profile = Measured();
  SaveProfile(profile);
  profile.Concurrency = 20;
  SaveProfile(profile);
  EXPECT_EQ(this->BestFor("/proj/x"), 20);
  using Files = std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(Files(this->Folder / "own"), Files()), 1);
}

TEST_F(Profiles, MayBeGivenByHand)
{
  WriteText(this->Folder / "own/a.json", R"({"mount": "/proj", "best_concurrency": 24} // mine)");
  const StorageProfile found = this->Find("/proj/x", 4e9).value();
  EXPECT_EQ(found.Concurrency, 24);
  EXPECT_EQ(found.Source, HandSource);
  EXPECT_EQ(found.ExpiresAt, 0);
  EXPECT_FALSE(found.Fit.Known());
  EXPECT_EQ(found.ThreadsFor(4), 6);
  EXPECT_EQ(found.ThreadsFor(100), 1);
  EXPECT_FALSE(found.CostOfRequest.has_value()) << "the profile gives no cost of requests";
}

TEST_F(Profiles, MayBeATableOfRanksAndThreads)
{
  WriteText(
      this->Folder / "own/a.json", R"({"mount": "/proj/", "threads_of_ranks": {"2": 16, "4": 8, "16": 3}})");
  const StorageProfile found = this->Find("/proj/x").value();
  EXPECT_EQ(found.Concurrency, 32);
  EXPECT_EQ(found.ThreadsFor(1), 16);
  EXPECT_EQ(found.ThreadsFor(2), 16);
  EXPECT_EQ(found.ThreadsFor(3), 10);
  EXPECT_EQ(found.ThreadsFor(4), 8);
  EXPECT_EQ(found.ThreadsFor(16), 3);
  EXPECT_EQ(found.ThreadsFor(1000), 1);
}

TEST_F(Profiles, MayBeATableOfMounts)
{
  WriteText(
      this->Folder / "own/a.json", R"({"storages": {"/proj": 24, "/proj/fast": 48, "/proj/other": 3}})");
  EXPECT_EQ(this->BestFor("/proj/x"), 24);
  EXPECT_EQ(this->BestFor("/proj/fast/x"), 48);
  EXPECT_EQ(this->BestFor("/proj/faster/x"), 24);
  EXPECT_EQ(this->BestFor("/proj/other/x"), 3);
  EXPECT_EQ(this->BestFor("/elsewhere"), 0);
}

TEST_F(Profiles, OfOnesOwnComeBeforeThoseOfTheSite)
{
  this->Give("site2/a.json", R"("best_concurrency": 2)");
  EXPECT_EQ(this->BestFor("/proj/x"), 2);
  EXPECT_EQ(this->Find("/proj/x").value().Source, SiteSource);
  this->Give("site1/a.json", R"("best_concurrency": 1)");
  EXPECT_EQ(this->BestFor("/proj/x"), 1);
  SaveProfile(Measured());
  EXPECT_EQ(this->BestFor("/proj/x"), 16);
  this->Give("own/a.json", R"("best_concurrency": 24)");
  EXPECT_EQ(this->BestFor("/proj/x"), 24);
}

TEST_F(Profiles, OfThisKindOfNodeComeFirst)
{
  StorageProfile login = Measured();
  login.Node = "login/8 cores";
  login.Concurrency = 3;
  login.MeasuredAt += 1000;
  SaveProfile(login);
  EXPECT_EQ(this->BestFor("/proj/x"), 3);
  SaveProfile(Measured());
  EXPECT_EQ(this->BestFor("/proj/x"), 16);
}

TEST_F(Profiles, OfTheNearestRankClassAreChosen)
{
  for (const int rankCount : {1, 4, 16}) {
    StorageProfile profile = Measured();
    profile.Ranks = rankCount;
    profile.Concurrency = 10 * rankCount;
    SaveProfile(profile);
  }
  const auto bestFor = [this](int rankCount) {
    return FindProfile("/proj/x", &this->Notes, this->Folder / "mountinfo", Now, rankCount)
        .value()
        .Concurrency;
  };
  EXPECT_EQ(bestFor(1), 10);
  EXPECT_EQ(bestFor(3), 40) << "rates differ little in between";
  EXPECT_EQ(bestFor(4), 40);
  EXPECT_EQ(bestFor(16), 160);
  EXPECT_EQ(bestFor(1000), 160);
  StorageProfile again = Measured();
  again.Ranks = 3;
  again.Concurrency = 41;
  SaveProfile(again);
  EXPECT_EQ(bestFor(4), 41) << "of the same class, so it replaces";
  EXPECT_EQ(bestFor(1), 10);
}

TEST_F(Profiles, MadeByReadsGiveWayToProbedOnes)
{
  StorageProfile reads = Measured();
  reads.FromReads = true;
  reads.Concurrency = 5;
  SaveProfile(reads);
  EXPECT_TRUE(this->Find("/proj/x").value().FromReads);
  StorageProfile probed = Measured();
  probed.Ranks = 16;
  probed.MeasuredAt -= 1000;
  SaveProfile(probed);
  EXPECT_EQ(FindProfile("/proj/x", nullptr, this->Folder / "mountinfo", Now, 4).value().Concurrency, 16);
}

TEST_F(Profiles, SayNothingOfWhatIsNotKnown)
{
  StorageProfile profile = Measured();
  profile.CostOfRequest.reset();
  profile.BlockBytes = 0;
  profile.BestFunction.clear();
  profile.Ranks = 0;
  const std::string text = TextOf(profile);
  for (const char* name : {"latency", "request_bytes", "block_bytes", "best_function", "ranks"}) {
    EXPECT_EQ(text.find(name), std::string::npos) << text;
  }
  SaveProfile(profile);
  EXPECT_FALSE(this->Find("/proj/x").value().CostOfRequest.has_value());
}

TEST_F(Profiles, Expire)
{
  SaveProfile(Measured());
  EXPECT_EQ(this->BestFor("/proj/x", Now + 88 * 86400), 16);
  EXPECT_EQ(this->BestFor("/proj/x", Now + 90 * 86400), 0);
  EXPECT_THAT(this->Notes, ElementsAre(HasSubstr("expired")));
  // A measured profile without a date is old.
  this->Give("site1/a.json", R"("best_concurrency": 2, "source": "measured")");
  EXPECT_EQ(this->BestFor("/proj/x", Now + 90 * 86400), 0);
  this->Give("site1/a.json", R"("best_concurrency": 2, "source": "measured", "expires_at": "never")");
  EXPECT_EQ(this->BestFor("/proj/x", Now + 90 * 86400), 0);
  // The profile has no expiry date on purpose.
  this->Give(
      "site1/a.json", R"("best_concurrency": 2, "source": "measured", "measured_at": "2020-01-01T00:00:00Z",
          "expires_at": "never")");
  EXPECT_EQ(this->BestFor("/proj/x", Now + 90 * 86400), 2);
}

TEST_F(Profiles, SayWhichMemberIsWrong)
{
  const std::vector<std::pair<std::string, std::string>> faults{
      {R"({"mount": 5, "best_concurrency": 3})", "for \"mount\", found 5"},
      {R"({"storages": 3})", "for \"storages\", found 3"},
      {R"({"mount": "/proj", "best_concurrency": 3, "samples": 7})", "for \"samples\", found 7"},
      {R"({"mount": "/proj", "best_concurrency": 3, "samples": [7]})", "for \"samples\", found 7"},
      {R"({"mount": "/proj", "best_concurrency": 3, "node": 7})", "for \"node\", found 7"}};
  for (const auto& [text, words] : faults) {
    EXPECT_THAT(MessageOf([&, text = text] { ParseProfiles(text, "a.json"); }), HasSubstr(words));
  }
}

TEST_F(Profiles, OfSomethingElseThatWasMountedThereAreNotUsed)
{
  StorageProfile profile = Measured();
  profile.StorageMount.Type = "ext4";
  SaveProfile(profile);
  EXPECT_EQ(this->BestFor("/proj/x"), 0);
  EXPECT_THAT(this->Notes, ElementsAre(HasSubstr("the profile is for ext4, but lustre")));
  profile = Measured();
  profile.StorageMount.Source = "mds:/old";
  SaveProfile(profile);
  EXPECT_EQ(this->BestFor("/proj/x"), 0);
  // Another file system may be mounted below the mount point of a measured profile.
  SaveProfile(Measured());
  EXPECT_EQ(this->BestFor("/proj/x"), 16);
  EXPECT_EQ(this->BestFor("/proj/other/x"), 0);
}

TEST_F(Profiles, ThatAreBrokenAreNotedAndPassedOver)
{
  this->Give("own/a.json", R"("best_concurrency": 16)");
  const std::string deep(500000, '[');
  std::string wide = "{";
  for (int i = 0; i < 90000; ++i) {
    wide += "\"" + std::to_string(i) + "\":1,";
  }
  const std::vector<std::string> broken{"", "{", "null", "[]", "3", "\xff\xfe{}", R"({"mount": 3})",
      R"({"mount": "/proj"})", R"({"mount": "proj", "best_concurrency": 3})", R"({"best_concurrency": 3})",
      R"({"mount": "/proj", "best_concurrency": 0})", R"({"mount": "/proj", "best_concurrency": -3})",
      R"({"mount": "/proj", "best_concurrency": 1e99})", R"({"mount": "/proj", "best_concurrency": 1e999})",
      R"({"mount": "/proj", "best_concurrency": 2.5})", R"({"mount": "/proj", "best_concurrency": "many"})",
      R"({"mount": "/proj", "best_concurrency": 3, "expires_at": "soon"})",
      R"({"mount": "/proj", "best_concurrency": 3, "latency_seconds": -1})",
      R"({"mount": "/proj", "best_concurrency": 3, "samples": "many"})",
      R"({"mount": "/proj", "best_concurrency": 3, "samples": [{"in_flight": 1}]})",
      R"({"mount": "/proj", "best_concurrency": 3, "samples": [{"in_flight": 1, "bytes_per_second": ["a"]}]})",
      R"({"mount": "/proj", "threads_of_ranks": {"many": 3}})",
      R"({"mount": "/proj", "threads_of_ranks": {"0": 3}})", R"({"mount": "/proj", "threads_of_ranks": {}})",
      R"({"mount": "/proj", "threads_of_ranks": [1]})", R"({"storages": {"/proj": "x"}})",
      R"({"storages": {"proj": 3}})", R"({"storages": 3})",
      R"({"mount": {"point": {}}, "best_concurrency": 3})", deep,
      R"({"mount": "/proj", "best_concurrency": )" + deep + std::string(deep.size(), ']') + "}",
      wide + "\"x\":1}", std::string(3 << 20, ' ')};
  for (const std::string& text : broken) {
    WriteText(this->Folder / "own/broken.json", text);
    EXPECT_EQ(this->BestFor("/proj/x"), 16) << text.substr(0, 80);
    ASSERT_EQ(this->Notes.size(), 1u) << text.substr(0, 80);
    EXPECT_THAT(this->Notes[0], HasSubstr("own/broken.json"));
  }
}

TEST_F(Profiles, SurviveRandomDamage)
{
  const std::string text = TextOf(Measured());
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 3; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    damaged.resize(round % 2 == 0 ? damaged.size() : random() % damaged.size());
    try {
      for (const StorageProfile& profile : ParseProfiles(damaged, "damaged.json")) {
        EXPECT_GE(profile.Concurrency, 1);
        EXPECT_TRUE(!profile.CostOfRequest || profile.CostOfRequest->Bandwidth > 0);
        EXPECT_LE(profile.BlockBytes, MostBlockBytes);
      }
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("damaged.json"));
    }
  }
}

TEST_F(Profiles, ThatAreNoFilesAreNotedAndDoNotHang)
{
  ASSERT_EQ(::mkfifo((this->Folder / "own/pipe.json").c_str(), 0600), 0);
  std::filesystem::create_directory(this->Folder / "own/folder.json");
  std::filesystem::create_symlink("nowhere", this->Folder / "own/link.json");
  EXPECT_EQ(this->BestFor("/proj/x"), 0);
  EXPECT_EQ(this->Notes.size(), 3u);
  ::setenv("PATCHIO_PROFILE_DIR", (this->Folder / "mountinfo").c_str(), 1);
  EXPECT_EQ(this->BestFor("/proj/x"), 0);
  EXPECT_EQ(this->Notes.size(), 1u);
  EXPECT_THAT(MessageOf([] { SaveProfile(Measured()); }), HasSubstr("mountinfo"));
}

TEST_F(Profiles, AreNotSavedWhereNothingIsKnown)
{
  StorageProfile profile = Measured();
  profile.Concurrency = 0;
  EXPECT_THAT(MessageOf([&] { SaveProfile(profile); }), HasSubstr("The storage profile cannot be saved"));
}

TEST_F(Profiles, LieWhereTheEnvironmentSays)
{
  EXPECT_EQ(UserProfileFolder(), this->Folder / "own");
  EXPECT_THAT(SiteProfileFolders(),
      ElementsAre(this->Folder / "site1", this->Folder / "site2", "/etc/patchio/storage"));
  ::setenv("PATCHIO_PROFILE_DIR", "", 1);
  ::setenv("XDG_CONFIG_HOME", "/conf", 1);
  EXPECT_EQ(UserProfileFolder(), "/conf/patchio/storage");
  ::setenv("XDG_CONFIG_HOME", "relative", 1);
  ::setenv("HOME", "/home/me", 0);
  const std::string home = std::getenv("HOME");
  EXPECT_EQ(UserProfileFolder(), home + "/.config/patchio/storage");
}

TEST(MergeSamples, SharpensThePeak)
{
  // N* is 23, which a noisy profile with powers of two does not determine well.
  const auto law = [](int n) { return n <= 23 ? 40e6 * n : 920e6 * std::sqrt(23.0 / n); };
  StorageProfile profile = Measured();
  profile.Samples.clear();
  for (int n = 1; n <= 128; n *= 2) {
    profile.Samples.push_back({n, law(n), 0});
  }
  profile.Fit = FitRates(profile.Samples);
  std::vector<RateSample> seen;
  for (const int n : {18, 21, 23, 25, 28}) {
    seen.push_back({n, law(n) * 0.8, 0});  // a real read includes other work
  }
  EXPECT_TRUE(MergeSamples(profile, seen));
  EXPECT_NEAR(profile.Concurrency, 23, 1);
  // The fit moves a quarter of the way to the observed rates.
  EXPECT_NEAR(profile.Fit.At(4) / law(4), std::pow(0.8, 0.25), 0.02);
}

TEST(MergeSamples, DoesNotMoveThePeakToWhereItReads)
{
  StorageProfile profile = Measured();
  for (int read = 0; read < 20; ++read) {
    EXPECT_TRUE(MergeSamples(profile, {{8, RateAt(8) * 0.5, 0}, {8, RateAt(8) * 0.55, 0}}));
  }
  EXPECT_EQ(profile.Samples.size(), Measured().Samples.size());
  EXPECT_NEAR(profile.Concurrency, 16, 1);
  EXPECT_NEAR(profile.Fit.At(8) / (RateAt(8) * 0.525), 1, 0.1);
}

TEST(MergeSamples, KeepsABoundedNumberAndThePeak)
{
  StorageProfile profile = Measured();
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.05);
  for (int read = 0; read < 150; ++read) {
    // Like a controller that searches for the best N.
    std::vector<RateSample> seen;
    for (int window = 0; window < 8; ++window) {
      const int n = 4 + static_cast<int>(random() % 60);
      seen.push_back({n, RateAt(n) * std::exp(noise(random) - 0.2), 0});
    }
    MergeSamples(profile, seen);
  }
  EXPECT_LE(profile.Samples.size(), 60u * 6u);
  EXPECT_GE(profile.Samples.size(), 60u);
  EXPECT_EQ(profile.Fit.Most(), 128);
  EXPECT_NEAR(profile.Concurrency, 16, 3);
}

TEST(MergeSamples, LeavesAloneWhatPeopleGave)
{
  StorageProfile given = Measured();
  given.Source = HandSource;
  EXPECT_FALSE(MergeSamples(given, {{8, 1e6, 0}}));
  EXPECT_EQ(TextOf(given).find("1000000.0"), std::string::npos);
  StorageProfile bare;
  bare.Source = SiteSource;
  bare.Concurrency = 32;
  EXPECT_FALSE(MergeSamples(bare, {{1, 1e6, 0}, {2, 1e6, 0}, {4, 1e6, 0}}));
  EXPECT_EQ(bare.Concurrency, 32);
}

TEST(MergeSamples, MakesAnOwnProfileOfASites)
{
  StorageProfile site = Measured();
  site.Source = SiteSource;
  site.ExpiresAt = 0;
  EXPECT_TRUE(MergeSamples(site, {{8, RateAt(8), 0}}));
  EXPECT_EQ(site.Source, MeasuredSource);
  EXPECT_GT(site.ExpiresAt, CurrentUnixTime());
}

TEST(MergeSamples, DatesAProfileThatReadsMake)
{
  StorageProfile fresh;
  fresh.Source = MeasuredSource;
  EXPECT_TRUE(MergeSamples(fresh, {{8, 1e6, 0}}));
  EXPECT_NEAR(fresh.MeasuredAt, CurrentUnixTime(), 60);
  EXPECT_EQ(fresh.ExpiresAt, fresh.MeasuredAt + ProfileLifetime);
  // The time of the probe does not change.
  StorageProfile probed = Measured();
  EXPECT_TRUE(MergeSamples(probed, {{8, RateAt(8), 0}}));
  EXPECT_EQ(probed.MeasuredAt, Measured().MeasuredAt);
  EXPECT_EQ(probed.ExpiresAt, Measured().ExpiresAt);
}

TEST(MergeSamples, PassesOverWhatIsNoSample)
{
  StorageProfile profile = Measured();
  EXPECT_FALSE(MergeSamples(profile, {}));
  EXPECT_FALSE(MergeSamples(profile, {{0, 1e6, 0}, {8, 0, 0}, {8, std::nan(""), 0}}));
}

}  // namespace
}  // namespace patchio
