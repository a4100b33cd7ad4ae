#include "Output/ConfigSection.h"

#include "Support/PlainFile.h"

#include <algorithm>
#include <cstdint>

namespace patchio::output {
namespace {

using nlohmann::json;

/// The configuration in messages.
constexpr const char* Name = "The output configuration";
/// A configuration of more bytes has not been written by a person.
constexpr std::uint64_t MostBytes = 16 << 20;

std::string TextOf(const std::string& path)
{
  const PlainFile file(path);
  std::string text(std::min(file.Size(), MostBytes), '\0');
  text.resize(file.ReadSome(0, text.data(), text.size()));
  return text;
}

/// Parses a JSON text; `name` is for messages. Throws Error if an object has a key twice: JSON would keep the
/// last value.
json Parse(const std::string& text, const std::string& name)
{
  std::vector<std::set<std::string>> keys;  // of the objects around the place
  const auto check = [&](int /*depth*/, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw FileError(name, "different keys in an object",
          fmt::format("the key \"{}\" twice", PlainText(value.get<std::string>())), "Remove one of them");
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception& error) {
    throw FileError(name, "a JSON text", PlainText(error.what()));
  }
}

}  // namespace

bool IsPath(const std::string& text)
{
  return !text.empty() &&
         std::none_of(text.begin(), text.end(), [](char letter) { return letter >= 0 && letter < ' '; });
}

json ParseConfig(const std::string& textOrPath)
{
  const std::size_t begin = textOrPath.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) {
    throw FileError(Name, "the path of a file, or a JSON text, {...}", "an empty text");
  }
  const bool isText = textOrPath[begin] == '{';
  if (!isText && textOrPath.find('\0') != std::string::npos) {
    throw FileError(Name, "a path without a zero byte", PlainText(textOrPath));
  }
  return isText ? Parse(textOrPath, Name) : Parse(TextOf(textOrPath), textOrPath);
}

Section::Section(const json& object, std::string place) : Object(object), Place(std::move(place))
{
  if (!object.is_object()) {
    this->Fail("an object, {...}", object.dump());
  }
}

std::vector<Section> Section::GetSections(const char* key)
{
  std::vector<Section> sections;
  const json* list = this->Find(key);
  if (list && !list->is_array()) {
    this->Fail(fmt::format("a list, [...], for \"{}\"", key), list->dump());
  }
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    sections.emplace_back(
        (*list)[i], fmt::format("{}{}{} {}", this->Place, this->Place.empty() ? "" : ", ", key, i + 1));
  }
  return sections;
}

void Section::CheckAllKnown() const
{
  for (const auto& [key, value] : this->Object.items()) {
    if (this->Known.count(key) == 0) {
      this->Fail(fmt::format("the keys {}", fmt::join(this->Known, ", ")), fmt::format("\"{}\"", key));
    }
  }
}

void Section::Fail(const std::string& expected, const std::string& found) const
{
  const std::string where = this->Place.empty() ? "" : fmt::format(" ({})", this->Place);
  throw FileError(Name + where, expected, PlainText(found));
}

const json* Section::Find(const char* key)
{
  this->Known.insert(key);
  const auto found = this->Object.find(key);
  return found == this->Object.end() ? nullptr : &*found;
}

}  // namespace patchio::output
