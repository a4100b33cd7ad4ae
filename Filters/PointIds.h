// The ids of new points, by keys such as the numbers of their edges.
#ifndef Filters_PointIds_h
#define Filters_PointIds_h

#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio::filters {

/// A hash table from keys to ids with open addressing.
class PointIds
{
public:
  /// Returns a reference to the id of `key`, valid until the next call. The id of a new key is -1; the caller
  /// must then set the id to 0 or more.
  int& operator[](long long key)
  {
    if (2 * this->Count >= this->Slots.size()) {
      this->Grow();
    }
    Slot& slot = this->Find(key);
    if (slot.Id < 0) {
      slot.Key = key;
      ++this->Count;
    }
    return slot.Id;
  }

private:
  static constexpr std::size_t InitialSlots = 256;

  struct Slot
  {
    long long Key;
    int Id = -1;  ///< -1: the slot is empty
  };

  /// Returns the slot of `key`, or the empty slot for a new key.
  Slot& Find(long long key)
  {
    const std::size_t mask = this->Slots.size() - 1;
    std::size_t at =
        static_cast<std::size_t>((static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u) >> 24) & mask;
    while (this->Slots[at].Id >= 0 && this->Slots[at].Key != key) {
      at = (at + 1) & mask;
    }
    return this->Slots[at];
  }

  void Grow()
  {
    std::vector<Slot> before(this->Slots.empty() ? InitialSlots : 4 * this->Slots.size());
    before.swap(this->Slots);
    for (const Slot& slot : before) {
      if (slot.Id >= 0) {
        this->Find(slot.Key) = slot;
      }
    }
  }

  std::vector<Slot> Slots;  ///< the size is a power of two
  std::size_t Count = 0;    ///< number of keys
};

}  // namespace patchio::filters

#endif
