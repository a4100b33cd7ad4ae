// Reads a whole request on one rank, in one call.
#pragma once

#include "Formats/Format.h"
#include "Read/RankRead.h"

namespace patchio::testing {

/// Locates the values with the format, and reads them.
inline LoadResult LoadPatches(const Format& format, const Catalog& catalog, const LoadRequest& request,
    const ReadProgressCallback& progress = {})
{
  const auto locate = [&](const std::vector<PatchVariable>& requests) {
    return format.Locate(catalog, requests, {request.Threads, false});
  };
  return RankRead(locate, catalog, request).Read(progress);
}

}  // namespace patchio::testing
