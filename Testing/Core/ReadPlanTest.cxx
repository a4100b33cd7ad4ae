#include "Plan/ReadPlan.h"

#include <gtest/gtest.h>

namespace patchio {
namespace {

class Table : public LocationTable
{
public:
  Table& Raw(int file, std::uint64_t offset)
  {
    Extent extent;
    extent.File = file;
    extent.Offset = offset;
    this->Add(Encoding::Raw, 1);
    this->Extents.push_back(extent);
    return *this;
  }
  Table& Without(Encoding kind)
  {
    this->Add(kind, 0);
    return *this;
  }

private:
  void Add(Encoding kind, std::uint32_t count)
  {
    Location location;
    location.Kind = kind;
    location.First = static_cast<std::uint32_t>(this->Extents.size());
    location.Count = count;
    this->Locations.push_back(location);
  }
};

using Plan = std::vector<std::size_t>;

}  // namespace

TEST(ReadPlan, OfNothingIsEmpty)
{
  EXPECT_TRUE(PlanReads({}).empty());
}

TEST(ReadPlan, GoesThroughFilesByOffset)
{
  const auto table = Table().Raw(1, 0).Raw(0, 900).Raw(0, 100).Raw(1, 50).Raw(0, 5'000'000'000);
  EXPECT_EQ(PlanReads(table), (Plan{2, 1, 4, 0, 3}));
}

TEST(ReadPlan, PutsConstantsLast)
{
  const auto table = Table().Without(Encoding::Constant).Raw(1000, 7).Without(Encoding::Constant).Raw(0, 0);
  EXPECT_EQ(PlanReads(table), (Plan{3, 1, 0, 2}));
}

TEST(ReadPlan, LeavesOutWhatIsAbsentOrMissing)
{
  const auto table = Table().Without(Encoding::Absent).Raw(0, 8).Without(Encoding::Missing).Raw(0, 4);
  EXPECT_EQ(PlanReads(table), (Plan{3, 1}));
}

TEST(ReadPlan, KeepsTheOrderOfRequestsForTheSameBytes)
{
  const auto table = Table().Raw(0, 64).Raw(0, 64).Raw(0, 64);
  EXPECT_EQ(PlanReads(table), (Plan{0, 1, 2}));
}

}  // namespace patchio
