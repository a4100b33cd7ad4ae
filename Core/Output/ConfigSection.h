// Reads the JSON text of an output configuration, with errors that name the place in it.
#pragma once

#include "Support/Error.h"
#include "Support/NamedValue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchio::output {

/// True if the text is not empty and has no control characters, such as the one that ends a name in C.
bool IsPath(const std::string& text);

/// Parses a JSON text, which begins with '{', or the file of that name. Throws Error if it is not valid JSON,
/// or if an object has a key twice.
nlohmann::json ParseConfig(const std::string& textOrPath);

/// An object of the configuration. Each key must be asked for. All methods but Has() throw Error.
class Section
{
public:
  Section(const nlohmann::json& object, std::string place);

  bool Has(const char* key) const { return this->Object.contains(key); }

  /// Returns the value of a key, or `otherwise` if there is no such key.
  template <typename T>
  T Get(const char* key, const char* expected, T otherwise, const std::function<bool(const T&)>& fits = {})
  {
    const nlohmann::json* value = this->Find(key);
    if (!value) {
      return otherwise;
    }
    try {
      T result = value->get<T>();
      if (nlohmann::json(result) == *value && (!fits || fits(result))) {  // 1.5 is not a whole number
        return result;
      }
    } catch (const nlohmann::json::exception&) {
    }
    this->Fail(fmt::format("{} for \"{}\"", expected, key), value->dump());
  }

  /// Returns the enumerator that a key names.
  template <typename Enum>
  Enum GetNamed(const char* key, Enum otherwise, Enum last)
  {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      names.emplace_back(NameOf(static_cast<Enum>(i)));
    }
    const auto name = this->Get<std::string>(key, fmt::format("one of {}", fmt::join(names, ", ")).c_str(),
        NameOf(otherwise), [&](const std::string& text) { return ValueNamed(text, last).has_value(); });
    return *ValueNamed(name, last);
  }

  /// Returns the elements of a list, each with its place; none if there is no such key.
  std::vector<Section> GetSections(const char* key);

  /// Throws Error if the object has a key that nothing has asked for.
  void CheckAllKnown() const;

  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const;

private:
  const nlohmann::json* Find(const char* key);

  const nlohmann::json& Object;
  const std::string Place;
  std::set<std::string> Known;
};

}  // namespace patchio::output
