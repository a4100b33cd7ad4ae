#include "Formats/FindSteps.h"

#include <gtest/gtest.h>

#include <limits>

TEST(TimeLookup, TakesTheLastTimeAtOrBeforeTheRequest)
{
  struct Case
  {
    std::vector<double> Times;
    double Request;
    std::size_t Step;
  };
  const std::vector<double> times{0, 1, 2.5}, close{0, 1e-10, 5e-10, 1};
  const std::vector<Case> cases{{times, -1, 0}, {times, 0, 0}, {times, 0.999, 0}, {times, 1, 1},
      {times, 2.4, 1}, {times, 2.5, 2}, {times, 1e300, 2}, {close, 0, 0}, {close, 1e-10, 1},
      {close, 5e-10, 2}, {close, 1, 3}, {{3}, 0, 0}, {{3}, 3, 0}, {{3}, 7, 0},
      // Rounding is forgiven, and the first step stands for a request that is not a number.
      {{0, 6.7500000000000018, 9}, 6.75, 1}, {{0, 1.0 / 3, 1}, 0.3333333333, 1},
      {times, std::numeric_limits<double>::quiet_NaN(), 0}};
  for (const Case& one : cases) {
    EXPECT_EQ(patchio::StepAtTime(one.Times, one.Request), one.Step) << one.Request;
  }
}
