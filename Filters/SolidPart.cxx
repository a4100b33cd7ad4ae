#include "Filters/SolidPart.h"

#include <algorithm>

namespace patchio::filters {
namespace {

/// Cells along each axis that one task looks at, at most.
constexpr int CellsOfTask = 64;

}  // namespace

SolidPart::SolidPart(const Block& from, const Int3& begin, const Int3& end)
    : From(&from), Begin(begin), Shape(from)
{
  for (int axis = 0; axis < 3; ++axis) {
    this->Cells[axis] = end[axis] - begin[axis];
    this->Points[axis] = from.Points[axis] > 1 ? this->Cells[axis] + 1 : 1;
  }
  for (int c = 0; c < 8; ++c) {
    this->Steps[c] = this->PointNumber(this->Shape.Corners[c]);
  }
}

void SolidPart::KeepCell(const Int3& cell)
{
  this->Whole.push_back(this->CellNumber(cell));
  const int first = this->PointNumber(cell);
  for (int c = 0; c < this->Shape.Count(); ++c) {
    this->Use(first + this->Steps[c]);
  }
}

void SolidPart::KeepPiece(const Int3& cell, unsigned char type, const int* corners, int count)
{
  this->Types.push_back(type);
  this->Corners.insert(this->Corners.end(), corners, corners + count);
  this->CellOfPiece.push_back(this->CellNumber(cell));
  for (int c = 0; c < count; ++c) {
    if (corners[c] < this->PointCount()) {
      this->Use(corners[c]);
    }
  }
}

int SolidPart::MakePoint(int a, int b, double t, int axis)
{
  this->Made.push_back({{this->PointOfBlock(a), this->PointOfBlock(b), t}, a, axis});
  return this->PointCount() + static_cast<int>(this->Made.size()) - 1;
}

Int3 SolidPart::PointAt(int point) const
{
  const int row = point / this->Points[0];
  return {point % this->Points[0], row % this->Points[1], row / this->Points[1]};
}

long long SolidPart::PointOfBlock(int point) const
{
  const Int3 at = this->PointAt(point);
  const Int3& points = this->From->Points;
  return this->Begin[0] + at[0] +
         points[0] * (this->Begin[1] + at[1] + static_cast<long long>(points[1]) * (this->Begin[2] + at[2]));
}

long long SolidPart::CellOfBlock(int cell) const
{
  const int row = cell / this->Cells[0];
  const long long layer = this->Begin[2] + row / this->Cells[1];
  return this->Begin[0] + cell % this->Cells[0] +
         this->From->Cells(0) * (this->Begin[1] + row % this->Cells[1] + this->From->Cells(1) * layer);
}

std::vector<SolidPart> MakeSolidParts(
    const Blocks& blocks, const std::function<void(SolidPart&)>& take, const GoesOn& goesOn)
{
  std::vector<SolidPart> parts;
  for (const Block& block : blocks.List) {
    const Int3 cells{block.Cells(0), block.Cells(1), block.Cells(2)};
    Int3 begin, end;
    for (begin[2] = 0; begin[2] < cells[2]; begin[2] = end[2]) {
      end[2] = std::min(begin[2] + CellsOfTask, cells[2]);
      for (begin[1] = 0; begin[1] < cells[1]; begin[1] = end[1]) {
        end[1] = std::min(begin[1] + CellsOfTask, cells[1]);
        for (begin[0] = 0; begin[0] < cells[0]; begin[0] = end[0]) {
          end[0] = std::min(begin[0] + CellsOfTask, cells[0]);
          parts.emplace_back(block, begin, end);
        }
      }
    }
  }
  if (!RunTasks(
          parts.size(), [&](std::size_t p) { take(parts[p]); }, goesOn)) {
    return {};
  }
  parts.erase(
      std::remove_if(parts.begin(), parts.end(), [](const SolidPart& part) { return part.IsEmpty(); }),
      parts.end());
  return parts;
}

}  // namespace patchio::filters
