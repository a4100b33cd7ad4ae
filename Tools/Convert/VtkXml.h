// A data set in a file of VTK's XML formats (.vti, .vtr, .vts, .vtu, .vtp): text that says what arrays there
// are, and behind it their bytes as they are in memory ("raw appended data").
#pragma once

#include "Catalog/Extent.h"

#include <sys/uio.h>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace patchio::tools {

struct VtkXmlArray
{
  std::string Name;
  ElementType Type = ElementType::Float32;
  int Components = 1;
  std::uint64_t Tuples = 0;
  const void* Values = nullptr;  ///< must stay until the file is written
};

/// The text as an attribute of XML may have it.
std::string XmlText(const std::string& text);

/// The root element of a file of this type, with `content` in it and `behind` after that.
std::string VtkXmlFile(const std::string& type, const std::string& content, const std::string& behind = {});

class VtkXmlPiece
{
public:
  /// type: "ImageData" and so on; grid, piece: the attributes of its element, and of that of its only piece.
  VtkXmlPiece(std::string type, std::string grid, std::string piece)
      : Type(std::move(type)), Grid(std::move(grid)), Piece(std::move(piece))
  {
  }

  /// An element with arrays: "PointData", "Points" and so on.
  void Add(const std::string& element, const std::vector<VtkXmlArray>& arrays);
  /// Keeps what is not in memory elsewhere, and says where.
  const void* Keep(std::vector<std::byte> bytes) { return this->Kept.emplace_back(std::move(bytes)).data(); }
  /// So many times NaN, or 0 if the type has no NaN. Arrays with the same values are one in the file.
  const void* Blank(ElementType type, std::uint64_t values);

  /// Makes the file, which must not exist yet. Throws Error.
  void Write(const std::string& path) const;

private:
  std::uint64_t OffsetOf(const void* values, std::uint64_t bytes);

  const std::string Type, Grid, Piece;
  std::string Elements;
  std::deque<std::vector<std::byte>> Kept;
  std::deque<std::uint64_t> Lengths;
  std::vector<iovec> Data;  ///< the length of an array, the array, the length of the next ...
  std::uint64_t Bytes = 0;  ///< of all these
  std::map<std::pair<const void*, std::uint64_t>, std::uint64_t> Offsets;  ///< by values and their length
  std::map<std::pair<ElementType, std::uint64_t>, const void*> Blanks;     ///< by type and number
};

}  // namespace patchio::tools
