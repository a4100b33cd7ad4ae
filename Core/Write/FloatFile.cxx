#include "Write/FloatFile.h"

#include "Base/Error.h"
#include "Catalog/CheckCatalog.h"
#include "Write/Sensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace patchio::output {
namespace {

template <typename T>
void CopyAs(const void* from, std::size_t first, std::int64_t count, float* to)
{
  const T* values = static_cast<const T*>(from) + first;
  std::transform(values, values + count, to, [](T value) { return static_cast<float>(value); });
}

/// Returns a description of the variables, the cells, the origin and the spacing of a step, one property per
/// line.
std::vector<std::string> LinesOf(const Catalog& step)
{
  std::vector<std::string> names;
  for (const Variable& variable : step.Variables) {
    names.push_back(PlainText(variable.Name));
  }
  return {fmt::format("the variables {}", fmt::join(names, ", ")), "the cells " + TextOf(GridOf(step)),
      fmt::format("the origin ({})", fmt::join(step.Origin, ", ")),
      fmt::format("the spacing ({})", fmt::join(step.Levels[0].Spacing, ", "))};
}

}  // namespace

void CopyFloats(ElementType type, const void* from, std::size_t first, std::int64_t count, float* to)
{
  VisitType(type, [&](auto value) { CopyAs<decltype(value)>(from, first, count, to); });
}

void PreparePath(const std::string& path, bool overwrite, const std::string& description,
    const std::function<bool()>& isReplaceable)
{
  std::error_code ignored;
  const fs::file_status there = fs::symlink_status(path, ignored);
  if (fs::exists(there)) {
    if (!overwrite) {
      throw FileError(path, "an unused path", "an existing file",
          "Choose another path, or set \"overwrite\" in the output configuration");
    }
    const auto require = [&](bool holds, const char* found) {
      if (!holds) {
        throw FileError(path, fmt::format("{}, which \"overwrite\" replaces", description), found,
            "Choose another path, or remove the existing file");
      }
    };
    require(!fs::is_symlink(there), "a symbolic link");
    require(fs::is_regular_file(there), "a folder or a special file");
    require(fs::file_size(path, ignored) == 0 || isReplaceable(), "a file of another type");
    fs::remove(path, ignored);
  }
  if (fs::path(path).has_parent_path()) {
    fs::create_directories(fs::path(path).parent_path(), ignored);
  }
}

void UniformSteps::CheckNumber(std::int64_t step) const
{
  if (step <= this->Last) {
    throw FileError(this->Path, fmt::format("a step after step {}", this->Last), fmt::format("step {}", step),
        "Write each step once, in the order of the numbers");
  }
}

void UniformSteps::CheckDescription(const Catalog& step) const
{
  if (this->IsEmpty()) {
    return;
  }
  const std::vector<std::string> lines = LinesOf(step);
  const auto [first, other] = std::mismatch(this->First.begin(), this->First.end(), lines.begin());
  if (first != this->First.end()) {
    throw FileError(this->Path, fmt::format("{} at all steps, as at the first step", *first),
        fmt::format("{} at step {}", *other, step.Step), "Write this channel as a container");
  }
}

void UniformSteps::Add(const Catalog& step)
{
  if (this->IsEmpty()) {
    this->First = LinesOf(step);
  }
  this->Last = step.Step;
}

}  // namespace patchio::output
