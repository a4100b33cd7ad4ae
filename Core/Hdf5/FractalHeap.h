// Fractal heaps: where large groups of the new style keep their links.
#pragma once

#include "Hdf5/FileBytes.h"

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace patchio::hdf5 {

/// The header of such a heap: section III.G of the specification.
struct FractalHeap
{
  unsigned IdBytes = 0;      ///< of what names an object
  unsigned OffsetBytes = 0;  ///< of an object's place in the heap
  unsigned LengthBytes = 0;
  bool HasChecksums = false;     ///< in blocks with objects
  std::uint64_t Width = 0;       ///< blocks in a row of the table
  std::uint64_t FirstBytes = 0;  ///< of blocks in the first two rows; each later row has twice as large ones
  std::uint64_t MostBytes = 0;   ///< of blocks with objects; larger ones are tables themselves
  std::uint64_t MostObjectBytes = 0;
  std::uint64_t Root = NoAddress;
  unsigned RootRows = 0;  ///< 0: the root is a block with objects
};

/// Reads objects of heaps. For one thread. All methods throw Corrupt, and Error when the storage fails.
class FractalHeapReader
{
public:
  explicit FractalHeapReader(FileBytes& bytes) : Source(bytes) {}
  /// Must be called for each new file.
  void Forget() { this->Checked.clear(); }

  FractalHeap Open(std::uint64_t address);
  /// Bytes of an object by its name in the heap: `heap.IdBytes` bytes. Valid until the next call.
  const std::vector<std::byte>& Read(const FractalHeap& heap, const std::byte* id);

private:
  /// A block with objects.
  struct Block
  {
    std::uint64_t Address = 0, Bytes = 0;
    std::uint64_t Inside = 0;  ///< where the object is in it
  };
  Block Find(const FractalHeap& heap, std::uint64_t offset);
  void CheckTable(const FractalHeap& heap, std::uint64_t address, unsigned rows);
  void CheckBlock(const FractalHeap& heap, const Block& block);

  FileBytes& Source;
  std::vector<std::byte> Object, Bytes;
  std::unordered_set<std::uint64_t> Checked;  ///< blocks and tables of this file
};

}  // namespace patchio::hdf5
