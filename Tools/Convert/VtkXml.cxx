#include "Convert/VtkXml.h"

#include "Support/PlainFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <limits>

namespace patchio::tools {
namespace {

/// "Float32": as numpy's name, but for the first letters.
std::string VtkNameOf(ElementType type)
{
  std::string name = NameOf(type);
  const std::size_t letters = name[0] == 'u' ? 2 : 1;
  for (std::size_t i = 0; i < letters; ++i) {
    name[i] = static_cast<char>(name[i] - 'a' + 'A');
  }
  return name;
}

template <typename T>
std::vector<std::byte> Filled(std::uint64_t values, T value)
{
  std::vector<std::byte> bytes(values * sizeof(T));
  for (std::uint64_t i = 0; i < values; ++i) {
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

}  // namespace

std::string XmlText(const std::string& text)
{
  using nlohmann::json;
  // What is no UTF-8 is replaced.
  const std::string clean =
      json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  std::string result;
  for (const char c : clean) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < ' ' ? '_' : c;
    }
  }
  return result;
}

std::string VtkXmlFile(const std::string& type, const std::string& content, const std::string& behind)
{
  return fmt::format(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
      "{}{}</VTKFile>\n",
      type, content, behind);
}

void VtkXmlPiece::Add(const std::string& element, const std::vector<VtkXmlArray>& arrays)
{
  this->Elements += fmt::format("<{}>\n", element);
  for (const VtkXmlArray& array : arrays) {
    this->Elements += fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
        VtkNameOf(array.Type), XmlText(array.Name), array.Components,
        this->OffsetOf(array.Values, array.Tuples * array.Components * SizeOf(array.Type)));
  }
  this->Elements += fmt::format("</{}>\n", element);
}

std::uint64_t VtkXmlPiece::OffsetOf(const void* values, std::uint64_t bytes)
{
  const auto [place, isNew] = this->Offsets.emplace(std::pair(values, bytes), this->Bytes);
  if (isNew) {
    this->Data.push_back({&this->Lengths.emplace_back(bytes), sizeof(std::uint64_t)});
    if (bytes > 0) {
      this->Data.push_back({const_cast<void*>(values), bytes});
    }
    this->Bytes += sizeof(std::uint64_t) + bytes;
  }
  return place->second;
}

const void* VtkXmlPiece::Blank(ElementType type, std::uint64_t values)
{
  const void*& blank = this->Blanks[{type, values}];
  if (!blank) {
    blank =
        this->Keep(type == ElementType::Float32   ? Filled(values, std::numeric_limits<float>::quiet_NaN())
                   : type == ElementType::Float64 ? Filled(values, std::numeric_limits<double>::quiet_NaN())
                                                  : std::vector<std::byte>(values * SizeOf(type)));
  }
  return blank;
}

void VtkXmlPiece::Write(const std::string& path) const
{
  const std::string end = "</AppendedData>\n";
  std::string head = fmt::format(
      "<{0} {1}>\n<Piece {2}>\n{3}</Piece>\n</{0}>\n", this->Type, this->Grid, this->Piece, this->Elements);
  head = VtkXmlFile(this->Type, head, "<AppendedData encoding=\"raw\">\n_" + end);
  const std::size_t begin = head.rfind(end);
  std::vector<iovec> buffers{{head.data(), begin}};
  buffers.insert(buffers.end(), this->Data.begin(), this->Data.end());
  buffers.push_back({head.data() + begin, head.size() - begin});
  PlainFile(path, PlainFile::Purpose::Create).Write(0, buffers);
}

}  // namespace patchio::tools
