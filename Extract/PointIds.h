// Points that were made, by keys of where they lie.
#ifndef Extract_PointIds_h
#define Extract_PointIds_h

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace patchio::extract {

/// A hash table that is used again and again.
class PointIds
{
public:
  void Clear()
  {
    this->Count = 0;
    if (++this->Round == 0) {
      this->Slots.assign(this->Slots.size(), Slot{});
      this->Round = 1;
    }
  }

  /// The id of this key, -1 at first: the caller then sets it.
  int& operator[](long long key)
  {
    if (2 * this->Count >= this->Slots.size()) {
      this->Grow();
    }
    Slot& slot = this->Find(key);
    if (slot.Round != this->Round) {
      slot = {key, -1, this->Round};
      ++this->Count;
    }
    return slot.Id;
  }

private:
  static constexpr std::size_t Small = 2048;

  struct Slot
  {
    long long Key;
    int Id;
    unsigned Round = 0;  ///< others than the table's: empty
  };

  Slot& Find(long long key)
  {
    const std::size_t mask = this->Slots.size() - 1;
    std::size_t at =
        static_cast<std::size_t>((static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u) >> 24) & mask;
    while (this->Slots[at].Round == this->Round && this->Slots[at].Key != key) {
      at = (at + 1) & mask;
    }
    return this->Slots[at];
  }

  void Grow()
  {
    std::vector<Slot> before(this->Slots.empty() ? Small : 2 * this->Slots.size());
    before.swap(this->Slots);
    for (const Slot& slot : before) {
      if (slot.Round == this->Round) {
        this->Find(slot.Key) = slot;
      }
    }
  }

  std::vector<Slot> Slots;  ///< a power of two
  std::size_t Count = 0;
  unsigned Round = 1;

  friend class LentPointIds;
  std::unique_ptr<PointIds> Next;  ///< while it is not lent
};

/// An empty table for one task, which goes to a later task afterwards. As many are kept as were ever used at
/// once: tasks take turns on many more threads, which reading needs.
class LentPointIds
{
public:
  LentPointIds()
  {
    {
      const std::lock_guard<std::mutex> lock(Guard);
      if (Free) {
        this->Table = std::exchange(Free, std::move(Free->Next));
      }
    }
    if (!this->Table) {
      this->Table = std::make_unique<PointIds>();
    }
    this->Table->Clear();
  }
  ~LentPointIds()
  {
    const std::lock_guard<std::mutex> lock(Guard);
    this->Table->Next = std::exchange(Free, nullptr);
    Free = std::move(this->Table);
  }
  LentPointIds(const LentPointIds&) = delete;
  LentPointIds& operator=(const LentPointIds&) = delete;

  int& operator[](long long key) { return (*this->Table)[key]; }

private:
  inline static std::mutex Guard;
  inline static std::unique_ptr<PointIds> Free;
  std::unique_ptr<PointIds> Table;
};

}  // namespace patchio::extract

#endif
