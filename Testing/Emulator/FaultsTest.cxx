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

}  // namespace

TEST(Faults, HitTheFilesThatThePatternNames)
{
  Faults faults;
  faults.Add(Rule("dump.*.h5"));
  faults.Add(Rule("step1/*.bin"));
  EXPECT_TRUE(faults.OnRead("dump.3.h5").Fails);
  EXPECT_TRUE(faults.OnRead("deep/below/dump.3.h5").Fails) << "the last part of the path";
  EXPECT_TRUE(faults.OnRead("step1/sub/a.bin").Fails) << "the whole path";
  EXPECT_FALSE(faults.OnRead("step2/a.bin").Fails);
  EXPECT_FALSE(faults.OnRead("dump.3.h5.bak").Fails);
}

TEST(Faults, OfSeveralRulesAddUp)
{
  Faults faults;
  FaultRule stall = Rule("*", FaultKind::Stall);
  stall.Seconds = 2;
  faults.Add(stall);
  faults.Add(stall);
  EXPECT_EQ(faults.OnRead("a").StallSeconds, 4);
  EXPECT_FALSE(faults.OnRead("a").Fails);
}

}  // namespace patchio::emulator
