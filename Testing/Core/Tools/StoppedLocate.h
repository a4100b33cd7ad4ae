// A check that formats stop locating values when they are told to.
#pragma once

#include "Formats/Format.h"
#include "LocationTools.h"
#include "TestTools.h"

#include <vector>

namespace patchio::testing {

/// Checks that Locate() of all values of the step can be stopped. `format` must have something to look for in
/// files. everyCall: Locate() reports its progress equally often each time, and is stopped at each of these
/// calls in turn.
inline void ExpectToStop(
    const Format& format, const Catalog& catalog, LocateOptions options = {}, bool everyCall = false)
{
  const std::vector<PatchVariable> requests = AllRequests(catalog);
  int calls = 0;
  options.Progress = [&](double fraction) {
    EXPECT_TRUE(fraction >= 0 && fraction <= 1) << fraction;
    ++calls;
    return true;
  };
  EXPECT_TRUE(format.Locate(catalog, requests, options).Problems.empty());
  EXPECT_GT(calls, 0);
  for (int stopAt = 1; stopAt <= (everyCall ? calls : 1); ++stopAt) {
    int told = 0;
    options.Progress = [&](double) { return ++told != stopAt; };
    EXPECT_THAT(MessageOf([&] { format.Locate(catalog, requests, options); }),
        ::testing::HasSubstr("was interrupted"));
    EXPECT_LE(told, stopAt) << "goes on";
  }
}

}  // namespace patchio::testing
