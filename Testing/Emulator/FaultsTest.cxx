#include "Faults.h"

#include "TestTools.h"

namespace patchio::emulator {
namespace {

FaultRule Rule(const std::string& pattern, FaultKind kind = FaultKind::Eio)
{
  FaultRule rule;
  rule.Pattern = pattern;
  rule.Kind = kind;
  return rule;
}

int FailuresIn(Faults& faults, const std::string& path, int reads)
{
  int failures = 0;
  for (int read = 0; read < reads; ++read) {
    failures += faults.OnRead(path).Fails ? 1 : 0;
  }
  return failures;
}

std::vector<bool> Drawn(std::uint64_t seed)
{
  Faults faults(seed);
  FaultRule rule = Rule("*");
  rule.Probability = 0.3;
  faults.Add(rule);
  std::vector<bool> drawn;
  for (int read = 0; read < 1000; ++read) {
    drawn.push_back(faults.OnRead("a").Fails);
  }
  return drawn;
}

}  // namespace

TEST(Faults, HitTheFilesThatThePatternNames)
{
  Faults faults(1);
  faults.Add(Rule("dump.*.h5"));
  faults.Add(Rule("step1/*.bin"));
  EXPECT_TRUE(faults.OnRead("dump.3.h5").Fails);
  EXPECT_TRUE(faults.OnRead("deep/below/dump.3.h5").Fails) << "the last part of the path";
  EXPECT_TRUE(faults.OnRead("step1/sub/a.bin").Fails) << "the whole path";
  EXPECT_FALSE(faults.OnRead("step2/a.bin").Fails);
  EXPECT_FALSE(faults.OnRead("dump.3.h5.bak").Fails);
  EXPECT_FALSE(faults.OnOpen("dump.3.h5").Fails) << "opening is a kind of its own";
}

TEST(Faults, OfOpeningLeaveReadsAlone)
{
  Faults faults(1);
  faults.Add(Rule("*", FaultKind::Open));
  EXPECT_TRUE(faults.OnOpen("a").Fails);
  EXPECT_FALSE(faults.OnRead("a").Faulty());
}

TEST(Faults, BeginAfterSoManyRequests)
{
  Faults faults(1);
  FaultRule rule = Rule("a");
  rule.After = 3;
  faults.Add(rule);
  EXPECT_EQ(FailuresIn(faults, "b", 10), 0) << "others do not count";
  EXPECT_EQ(FailuresIn(faults, "a", 3), 0);
  EXPECT_EQ(FailuresIn(faults, "a", 5), 5);
}

TEST(Faults, AreDrawnFromTheSeed)
{
  const std::vector<bool> drawn = Drawn(7);
  EXPECT_EQ(drawn, Drawn(7));
  EXPECT_NE(drawn, Drawn(8));
  // 300 are expected; the tolerance is five standard deviations.
  EXPECT_NEAR(std::count(drawn.begin(), drawn.end(), true), 300, 75);
}

TEST(Faults, EndWhenTakenOut)
{
  Faults faults(1);
  faults.Add(Rule("a"));
  faults.Add(Rule("b"));
  EXPECT_EQ(faults.Remove("a"), 1);
  EXPECT_FALSE(faults.OnRead("a").Fails);
  EXPECT_TRUE(faults.OnRead("b").Fails);
  faults.Add(Rule("a"));
  EXPECT_EQ(faults.Remove("*"), 2);
  EXPECT_TRUE(faults.Rules().empty());
}

TEST(Faults, OfSeveralRulesAddUp)
{
  Faults faults(1);
  FaultRule stall = Rule("*", FaultKind::Stall);
  stall.Seconds = 2;
  faults.Add(stall);
  faults.Add(stall);
  FaultRule cut = Rule("a", FaultKind::Short);
  cut.Bytes = 10;
  faults.Add(cut);
  const FaultOutcome outcome = faults.OnRead("a");
  EXPECT_EQ(outcome.StallSeconds, 4);
  EXPECT_EQ(outcome.End, 10u);
  EXPECT_FALSE(outcome.Fails);
  EXPECT_EQ(faults.OnRead("b").End, UINT64_MAX);
}

TEST(Faults, RefuseNumbersOutOfRange)
{
  Faults faults(1);
  FaultRule rule = Rule("*");
  rule.Probability = 1.5;
  EXPECT_THAT(testing::MessageOf([&] { faults.Add(rule); }), ::testing::HasSubstr("between 0 and 1"));
  rule.Probability = 1;
  rule.Seconds = -1;
  EXPECT_THAT(testing::MessageOf([&] { faults.Add(rule); }), ::testing::HasSubstr("seconds"));
}

}  // namespace patchio::emulator
