#include "FakeSource.h"

#include "TestTools.h"

namespace patchio {
namespace {

std::vector<std::vector<std::byte>> TwoFiles()
{
  using Text = std::vector<char>;
  return {
      testing::BytesOf(Text{'h', 'e', 'l', 'l', 'o'}), testing::BytesOf(Text{'w', 'o', 'r', 'l', 'd', '!'})};
}

}  // namespace

TEST(FakeSource, GivesTheBytesItWasMadeWith)
{
  FakeSource source(TwoFiles(), {});
  std::string text(3, ' ');
  source.Open(1)->Read(2, text.data(), 3);
  EXPECT_EQ(text, "rld");
}

TEST(FakeSource, FailsBeyondTheEnd)
{
  FakeSource source(TwoFiles(), {});
  char into[8];
  const auto file = source.Open(0);
  EXPECT_THAT(
      testing::MessageOf([&] { file->Read(3, into, 3); }), ::testing::HasSubstr("the end of the file"));
}

TEST(FakeSource, FailsOnTheFilesItWasToldTo)
{
  FakeBehaviour behaviour;
  behaviour.FailingFiles = {1};
  FakeSource source(TwoFiles(), behaviour);
  char into[1];
  source.Open(0)->Read(0, into, 1);
  EXPECT_EQ(into[0], 'h');
  EXPECT_THAT(
      testing::MessageOf([&] { source.Open(1)->Read(0, into, 1); }), ::testing::HasSubstr("injected"));
}

TEST(FakeSource, AsksForTheRateAtTheRequestsInFlight)
{
  std::vector<int> asked;
  FakeBehaviour behaviour;
  behaviour.Rate = [&](int inFlight) {
    asked.push_back(inFlight);
    return 1e9;
  };
  FakeSource source(TwoFiles(), behaviour);
  char into[4];
  source.Open(0)->Read(0, into, 4);
  source.Open(1)->Read(0, into, 4);
  EXPECT_EQ(asked, (std::vector<int>{1, 1}));
  EXPECT_EQ(source.PeakInFlight(), 1);
}

}  // namespace patchio
