#include "Formats/AMReX/AmrexMultiFab.h"

#include "Support/Error.h"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <unordered_map>

namespace patchio::amrex {
namespace {

constexpr int MostComponents = 1 << 20;
constexpr int MostGhosts = 64;
constexpr std::uint64_t LeastBytesOfBox = 10;  ///< "((0,0) ..." and "FabOnDisk: ..." take more

/// How a MultiFab is stored. Versions 3 and 4 add least and greatest values to 2.
constexpr int WithFabHeaders = 1;
constexpr int WithRanges = 3;  ///< of each box; 4 has one for all
constexpr int LastVersion = 4;

class MultiFabReader
{
public:
  MultiFabReader(const std::string& prefix, int dimension) : Lines(prefix + "_H"), Dimension(dimension) {}

  MultiFabHeader Read(std::int64_t boxes)
  {
    this->ReadTop();
    this->ReadBoxes(boxes);
    this->ReadLocations();
    if (!this->Header.FabHeaders) {
      this->ReadKind();
    }
    return std::move(this->Header);
  }

  std::vector<ValueRange> ReadRanges(std::int64_t boxes, int component)
  {
    this->ReadTop();
    this->ReadBoxes(boxes);
    this->ReadLocations();
    if (this->Version != WithFabHeaders && this->Version != WithRanges) {
      return {};
    }
    const std::vector<double> least = this->ReadExtremes("least", component);
    const std::vector<double> greatest = this->ReadExtremes("greatest", component);
    std::vector<ValueRange> ranges;
    for (std::size_t i = 0; i < least.size(); ++i) {
      ranges.push_back(RangeOfFloats(least[i], greatest[i]));
    }
    return ranges;
  }

private:
  std::vector<double> ReadExtremes(const char* which, int component);
  void ReadTop();
  void ReadBoxes(std::int64_t boxes);
  void ReadBox();
  void ReadLocations();
  void ReadLocation();
  int FileNumber(std::string_view name);
  void ReadKind();

  TextLines Lines;
  int Dimension;
  int Version = 0;
  MultiFabHeader Header;
  std::unordered_map<std::string, int> Known;
  std::string LastName;
};

void MultiFabReader::ReadTop()
{
  const auto version = this->Lines.NextNumber(
      "the version of a MultiFab header that PatchIO knows", WithFabHeaders, LastVersion);
  this->Version = static_cast<int>(version);
  this->Header.FabHeaders = version == WithFabHeaders;
  this->Lines.Next("the distribution of the FABs over files");
  this->Header.Components =
      static_cast<int>(this->Lines.NextNumber("the number of components", 1, MostComponents));
  TextScanner words(this->Lines.Next("the width of the ghost layer"));
  Int3& ghosts = this->Header.Ghosts;
  if (!TakeTuple(words, ghosts, this->Dimension)) {
    int width = 0;
    TextScanner again(words.Left());
    if (!again.Take(width)) {
      this->Lines.Fail("the width of the ghost layer");
    }
    for (int axis = 0; axis < this->Dimension; ++axis) {
      ghosts[axis] = width;
    }
  }
  for (const int width : ghosts) {
    if (width < 0 || width > MostGhosts) {
      this->Lines.Fail(fmt::format("a ghost layer of 0 to {} cells", MostGhosts));
    }
  }
}

void MultiFabReader::ReadBoxes(std::int64_t boxes)
{
  TextScanner words(this->Lines.Next("the number of boxes"));
  std::int64_t count = 0;
  if (!words.Take("(") || !words.Take(count) || count != boxes ||
      static_cast<std::uint64_t>(count) > this->Lines.Bytes() / LeastBytesOfBox) {
    this->Lines.Fail(fmt::format("the number of boxes, {} as the plotfile's Header says,", boxes));
  }
  this->Header.Boxes.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    this->ReadBox();
  }
  TextScanner end(this->Lines.Next("the end of the boxes"));
  if (!end.Take(")")) {
    this->Lines.Fail("the end of the boxes, ')',");
  }
}

void MultiFabReader::ReadBox()
{
  TextScanner words(this->Lines.Next("a box"));
  TypedBox box;
  if (!TakeBox(words, box, this->Dimension)) {
    this->Lines.Fail("a box, as ((lower) (upper) (centring)),");
  }
  if (this->Header.Boxes.empty()) {
    this->Header.NodeCentred = box.NodeCentred;
  } else if (this->Header.NodeCentred != box.NodeCentred) {
    this->Lines.Fail("a box with the same centring as the boxes before it");
  }
  this->Header.Boxes.push_back(box.Indices);
}

void MultiFabReader::ReadLocations()
{
  const auto boxes = static_cast<std::int64_t>(this->Header.Boxes.size());
  this->Lines.NextNumber("the number of FABs, one for each box", boxes, boxes);
  this->Header.FileOfBox.reserve(this->Header.Boxes.size());
  this->Header.Offsets.reserve(this->Header.Boxes.size());
  for (std::int64_t i = 0; i < boxes; ++i) {
    this->ReadLocation();
  }
}

/// "FabOnDisk: Cell_D_00000 45143"
void MultiFabReader::ReadLocation()
{
  const char* const expected = "the file name and offset of a FAB";
  TextScanner words(this->Lines.Next(expected));
  std::string_view name;
  std::int64_t offset = 0;
  if (!words.Take("FabOnDisk:") || !words.TakeWord(name) || !words.Take(offset) || !words.Done() ||
      offset < 0) {
    this->Lines.Fail(expected);
  }
  this->Header.FileOfBox.push_back(this->FileNumber(name));
  this->Header.Offsets.push_back(static_cast<std::uint64_t>(offset));
}

int MultiFabReader::FileNumber(std::string_view name)
{
  if (!this->Header.FileOfBox.empty() && name == this->LastName) {
    return this->Header.FileOfBox.back();
  }
  this->LastName = name;
  if (name.find('/') != std::string_view::npos || name == "." || name == "..") {
    this->Lines.Fail("the name of a file in the same folder");
  }
  const auto [known, isNew] =
      this->Known.emplace(this->LastName, static_cast<int>(this->Header.Files.size()));
  if (isNew) {
    this->Header.Files.push_back(this->LastName);
  }
  return known->second;
}

/// A blank line, "boxes,components", and a line of numbers a box, each with a comma behind it. "nan"
/// and "inf" become NaN.
std::vector<double> MultiFabReader::ReadExtremes(const char* which, int component)
{
  const std::string expected = fmt::format("the {} values of {} boxes and {} components", which,
      this->Header.Boxes.size(), this->Header.Components);
  this->Lines.Next(expected.c_str());
  TextScanner head(this->Lines.Next(expected.c_str()));
  std::int64_t boxes = 0;
  int components = 0;
  if (!head.Take(boxes) || !head.Take(",") || !head.Take(components) ||
      boxes != static_cast<std::int64_t>(this->Header.Boxes.size()) ||
      components != this->Header.Components) {
    this->Lines.Fail(expected);
  }
  std::vector<double> values;
  for (std::int64_t i = 0; i < boxes; ++i) {
    std::string_view rest = this->Lines.Next(expected.c_str());
    for (int c = 0; c < component; ++c) {
      const std::size_t comma = rest.find(',');
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    TextScanner number(rest.substr(0, rest.find(',')));
    double value = 0;
    values.push_back(number.Take(value) && number.Done() ? value : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

/// At the end of the file, behind least and greatest values.
void MultiFabReader::ReadKind()
{
  const std::string line = this->Lines.LastLine();
  TextScanner words(line);
  if (!TakeRealKind(words, this->Header.Kind) || !words.Done()) {
    throw FileError(this->Lines.Path(), "a number format (4 or 8 bytes, IEEE) in the last line",
        fmt::format("'{}'", PlainText(line.substr(0, 80))),
        "The file is damaged, or its number format is not supported");
  }
}

}  // namespace

MultiFabHeader ReadMultiFabHeader(const std::string& prefix, int dimension, std::int64_t boxes)
{
  return MultiFabReader(prefix, dimension).Read(boxes);
}

std::vector<ValueRange> ReadMultiFabRanges(
    const std::string& prefix, int dimension, std::int64_t boxes, int component)
{
  return MultiFabReader(prefix, dimension).ReadRanges(boxes, component);
}

}  // namespace patchio::amrex
