#include "Filters/CutPart.h"

namespace patchio::filters {

void CutPart::Reserve(std::size_t polygons, bool triangles)
{
  this->Points.reserve(polygons + polygons / 8);
  this->Positions.reserve(polygons + polygons / 8);
  this->Corners.reserve(polygons * (triangles ? 6 : 4));
  this->Sizes.reserve(polygons * (triangles ? 2 : 1));
  this->Cells.reserve(polygons * (triangles ? 2 : 1));
}

void CutPart::AddCell(const int* corners, int count, bool triangles, long long cell)
{
  const int size = triangles && count > 3 ? 3 : count;
  // Triangles are a fan around the first corner.
  for (int last = size - 1; last < count; ++last) {
    this->Corners.push_back(corners[0]);
    this->Corners.insert(this->Corners.end(), corners + last - size + 2, corners + last + 1);
    this->Sizes.push_back(static_cast<unsigned char>(size));
    this->Cells.push_back(cell);
  }
}

}  // namespace patchio::filters
