// Formats asked where values lie, by somebody who does not want to know it any more.
#pragma once

#include "Formats/Format.h"
#include "TestTools.h"

#include <vector>

namespace patchio::testing {

/// Of all values of the step. `format` must have something to look for in files.
inline void ExpectToStop(const Format& format, const Catalog& catalog, LocateOptions options = {})
{
  std::vector<PatchVariable> requests;
  for (int patch = 0; patch < static_cast<int>(catalog.Patches.size()); ++patch) {
    for (int variable = 0; variable < static_cast<int>(catalog.Variables.size()); ++variable) {
      requests.push_back({patch, variable});
    }
  }
  int told = 0;
  options.Progress = [&](double fraction) {
    EXPECT_TRUE(fraction >= 0 && fraction <= 1) << fraction;
    ++told;
    return true;
  };
  EXPECT_TRUE(format.Locate(catalog, requests, options).Problems.empty());
  EXPECT_GT(told, 0);
  told = 0;
  options.Progress = [&](double) { return ++told < 1; };
  EXPECT_THAT(
      MessageOf([&] { format.Locate(catalog, requests, options); }), ::testing::HasSubstr("was stopped"));
  EXPECT_EQ(told, 1) << "goes on";
}

}  // namespace patchio::testing
