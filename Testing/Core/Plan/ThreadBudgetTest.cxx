#include "Plan/ThreadBudget.h"

#include <gtest/gtest.h>

#include <vector>

namespace patchio {
namespace {

/// Returns NT of each rank.
std::vector<int> AllRanks(int storageConcurrency, int otherLoad, int processes)
{
  std::vector<int> threads;
  for (int rank = 0; rank < processes; ++rank) {
    threads.push_back(ThreadsFromStorage(storageConcurrency, otherLoad, processes, rank));
  }
  return threads;
}

struct Row
{
  int StorageConcurrency;    // N*
  int OtherLoad;             // NC
  std::vector<int> Threads;  // NT of rank 0, 1, ...
};

}  // namespace

TEST(ThreadBudget, FollowsThePapersTable)
{
  const std::vector<Row> table{
      // no other reads
      {32, 0, {32}},
      {32, 0, {16, 16}},
      {32, 0, {4, 4, 4, 4, 4, 4, 4, 4}},
      // other programs read
      {32, 8, {6, 6, 6, 6}},
      {32, 31, {1}},
      // the first ranks get one more thread each
      {32, 0, {11, 11, 10}},
      {10, 3, {3, 2, 2}},
      {7, 0, {2, 2, 2, 1}},
      {17, 1, {4, 3, 3, 3, 3}},
      // the storage is full or overfull
      {32, 32, {1, 1, 1}},
      {32, 33, {1, 1, 1}},
      {1, 1000, {1}},
      // more processes than free requests of the storage
      {4, 0, {1, 1, 1, 1, 1, 1}},
      {32, 30, {1, 1, 1, 1}},
      {1, 0, {1, 1}},
  };
  for (const Row& row : table) {
    EXPECT_EQ(
        AllRanks(row.StorageConcurrency, row.OtherLoad, static_cast<int>(row.Threads.size())), row.Threads)
        << "N* = " << row.StorageConcurrency << ", NC = " << row.OtherLoad << ", NP = " << row.Threads.size();
  }
}

TEST(ThreadBudget, FillsTheStorageExactlyWhenThereIsRoomForAll)
{
  for (int free = 1; free <= 40; ++free) {
    for (int processes = 1; processes <= free; ++processes) {
      int sum = 0;
      for (const int threads : AllRanks(free + 5, 5, processes)) {
        sum += threads;
      }
      EXPECT_EQ(sum, free) << processes << " processes";
    }
  }
}

TEST(ThreadBudget, FollowsTheMode)
{
  ThreadSettings settings;
  settings.StorageConcurrency = 10;
  settings.OtherLoad = 3;
  settings.Mode = ThreadMode::Fixed;
  for (const auto& [number, threads] : {std::pair(7, 7), std::pair(0, 1), std::pair(-3, 1)}) {
    settings.ThreadsPerRank = number;
    EXPECT_EQ(ThreadsOfRank(settings, 4, 3), threads);
  }
  settings.Mode = ThreadMode::FromStorage;
  settings.ThreadsPerRank = 99;
  EXPECT_EQ(ThreadsOfRank(settings, 3, 0), 3);
  EXPECT_EQ(ThreadsOfRank(settings, 3, 1), 2);
}

}  // namespace patchio
