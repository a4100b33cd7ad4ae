// Blocks cut by all threads, large ones in several parts.
#ifndef Filters_CutTasks_h
#define Filters_CutTasks_h

#include "Filters/CutPart.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace patchio::filters {

class CutTasks
{
public:
  /// surface: see CutPart.
  explicit CutTasks(int surface) : Surface(surface) {}

  /// Some rows of a block of so many cells each, or layers; `of`: a number of the caller's.
  void Add(std::size_t of, const Block& block, int rows, long long cellsOfRow);
  /// All layers of a block along z.
  void AddLayers(std::size_t of, const Block& block);

  /// Fills parts by cut(of, first row, row behind the last, part), on all threads. Parts are in the order in
  /// which rows were added.
  std::vector<CutPart> Run(const std::function<void(std::size_t, int, int, CutPart&)>& cut) const;

private:
  struct Task
  {
    std::size_t Of;
    const Block* From;
    int Begin, End;
  };

  const int Surface;
  std::vector<Task> Tasks;
};

}  // namespace patchio::filters

#endif
