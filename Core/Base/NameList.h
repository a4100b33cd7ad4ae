// Lists of names in messages.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace patchio {

/// "'a', 'b' and 3 more": the names in quotes, at most `most` of them; "none" where there is none.
std::string NameList(const std::vector<std::string>& names, std::size_t most = 8);

/// The names with those most like `wanted` first: by the number of letters to add, remove or replace (V.
/// Levenshtein, "Binary codes capable of correcting deletions, insertions, and reversals", 1966), whether
/// large or small. Names that are equally like it stay in their order.
std::vector<std::string> ByLikeness(std::vector<std::string> names, const std::string& wanted);

}  // namespace patchio
