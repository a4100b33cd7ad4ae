// From the name of an enumerator back to it, for enumerations that have a NameOf().
#pragma once

#include <optional>
#include <string>

namespace patchio {

/// The value with this name, of those from 0 on up to `last`; none where no value is called so.
template <typename Enum>
std::optional<Enum> ValueNamed(const std::string& name, Enum last)
{
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name == NameOf(static_cast<Enum>(i))) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

}  // namespace patchio
