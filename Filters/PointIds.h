// The ids of new points, by keys of their places.
#ifndef Filters_PointIds_h
#define Filters_PointIds_h

#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio::filters {

/// A hash table from keys to ids, in one piece of memory.
class PointIds
{
public:
  /// Returns the id of `key`. The id of a new key is -1, and the caller must set this id to 0 or more.
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
  static constexpr std::size_t Small = 256;

  struct Slot
  {
    long long Key;
    int Id = -1;  ///< -1: empty
  };

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
    std::vector<Slot> before(this->Slots.empty() ? Small : 4 * this->Slots.size());
    before.swap(this->Slots);
    for (const Slot& slot : before) {
      if (slot.Id >= 0) {
        this->Find(slot.Key) = slot;
      }
    }
  }

  std::vector<Slot> Slots;  ///< the number of slots is a power of two
  std::size_t Count = 0;
};

}  // namespace patchio::filters

#endif
