#include "Formats/FindSteps.h"

#include <gtest/gtest.h>

#include <limits>

using patchio::StepAtTime;

TEST(TimeLookup, TakesTheLastTimeAtOrBeforeTheRequest)
{
  const std::vector<double> times{0, 1, 2.5};
  EXPECT_EQ(StepAtTime(times, -1), 0u);
  EXPECT_EQ(StepAtTime(times, 0), 0u);
  EXPECT_EQ(StepAtTime(times, 0.999), 0u);
  EXPECT_EQ(StepAtTime(times, 1), 1u);
  EXPECT_EQ(StepAtTime(times, 2.4), 1u);
  EXPECT_EQ(StepAtTime(times, 2.5), 2u);
  EXPECT_EQ(StepAtTime(times, 1e300), 2u);
}

TEST(TimeLookup, ForgivesRounding)
{
  EXPECT_EQ(StepAtTime({0, 6.7500000000000018, 9}, 6.75), 1u);
  EXPECT_EQ(StepAtTime({0, 1.0 / 3, 1}, 0.3333333333), 1u);
}

TEST(TimeLookup, TellsCloseTimesApart)
{
  const std::vector<double> times{0, 1e-10, 5e-10, 1};
  for (std::size_t step = 0; step < times.size(); ++step) {
    EXPECT_EQ(StepAtTime(times, times[step]), step);
  }
}

TEST(TimeLookup, TakesTheOnlyStepForAnything)
{
  EXPECT_EQ(StepAtTime({3}, 0), 0u);
  EXPECT_EQ(StepAtTime({3}, 3), 0u);
  EXPECT_EQ(StepAtTime({3}, 7), 0u);
}

TEST(TimeLookup, TakesTheFirstStepForNoNumber)
{
  EXPECT_EQ(StepAtTime({0, 1, 2}, std::numeric_limits<double>::quiet_NaN()), 0u);
}
