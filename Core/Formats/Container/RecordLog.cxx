#include "Formats/Container/RecordLog.h"

#include "Base/Checksum.h"

#include <algorithm>
#include <cstring>

namespace patchio::container {
namespace {

enum Fragment : unsigned char
{
  Whole = 1,
  First,
  Middle,
  Last
};

std::string Head(std::string_view data, Fragment kind)
{
  std::string checked(1, static_cast<char>(kind));
  checked += data;
  const std::uint32_t sum = Crc32(0, checked.data(), checked.size());
  std::string head;
  for (int i = 0; i < 4; ++i) {
    head += static_cast<char>(sum >> 8 * i);
  }
  head += static_cast<char>(data.size() & 0xff);
  head += static_cast<char>(data.size() >> 8);
  return head + static_cast<char>(kind);
}

/// The bytes of one log, fragment by fragment.
class Scanner
{
public:
  explicit Scanner(std::string_view bytes) : Bytes(bytes) {}

  RecordLog Run()
  {
    while (this->At + RecordLog::HeadBytes <= this->Bytes.size()) {
      this->Step();
    }
    const std::uint64_t end = std::max(this->Log.End, this->DamageEnd);
    this->Log.LostBytes += end - this->Log.End;
    this->Log.BytesAfter = this->Bytes.size() - end;
    return std::move(this->Log);
  }

private:
  void Step();
  void Skip(std::size_t length, bool cut);
  void Take(Fragment kind, std::string_view data);
  std::uint64_t NextBlock() const { return (this->At / RecordLog::BlockBytes + 1) * RecordLog::BlockBytes; }
  unsigned ByteAt(std::uint64_t offset) const { return static_cast<unsigned char>(this->Bytes[offset]); }

  std::string_view Bytes;
  std::uint64_t At = 0;
  std::uint64_t Begin = 0;      ///< of the last record that began
  std::string Open;             ///< its parts so far
  bool InPart = false;          ///< it is not complete
  bool Searching = false;       ///< for a whole fragment, behind a damaged one
  std::uint64_t DamageEnd = 0;  ///< of the last fragment that is all there, but damaged
  /// Bytes that may still be checked while a whole fragment is looked for: a forged log must not take hours.
  std::uint64_t Budget = std::uint64_t(1) << 26;
  RecordLog Log;
};

void Scanner::Step()
{
  const std::uint64_t left = this->NextBlock() - this->At;
  if (left < RecordLog::HeadBytes) {
    this->At += left;
    return;
  }
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    sum |= this->ByteAt(this->At + i) << 8 * i;
  }
  const std::size_t length = this->ByteAt(this->At + 4) | this->ByteAt(this->At + 5) << 8;
  const std::uint64_t behind = this->At + RecordLog::HeadBytes + length;
  const bool cut = RecordLog::HeadBytes + length > left || behind > this->Bytes.size();
  if (cut || Crc32(0, this->Bytes.data() + this->At + 6, length + 1) != sum) {
    this->Skip(length, cut);
    return;
  }
  this->Searching = false;
  const auto kind = static_cast<Fragment>(this->ByteAt(this->At + 6));
  const std::string_view data = this->Bytes.substr(this->At + RecordLog::HeadBytes, length);
  this->At = behind;
  this->Take(kind, data);
}

/// Goes on behind a damaged fragment: at the next byte, since its length may be wrong. cut: the log ends
/// before it does, as when it is still being written.
void Scanner::Skip(std::size_t length, bool cut)
{
  this->InPart = false;
  const unsigned kind = this->ByteAt(this->At + 6);
  const bool plausible = !cut && kind >= Whole && kind <= Last;
  if (plausible && !this->Searching) {
    this->DamageEnd = this->At + RecordLog::HeadBytes + length;
  }
  this->Searching = true;
  const std::uint64_t checked = plausible ? length : 0;
  this->At = checked < this->Budget ? this->At + 1 : this->NextBlock();
  this->Budget -= std::min(this->Budget, checked);
}

void Scanner::Take(Fragment kind, std::string_view data)
{
  const bool begins = kind == Whole || kind == First;
  if (begins) {
    this->Open.clear();
    this->Begin = this->At - RecordLog::HeadBytes - data.size();
  }
  const bool fits = (begins || this->InPart) && kind >= Whole && kind <= Last;
  this->InPart = fits && kind != Whole && kind != Last;
  if (fits) {
    this->Open += data;
  }
  if (!fits || this->InPart) {
    return;
  }
  // Between records lie only the zeros at a block's end.
  const std::uint64_t gap = this->Begin - this->Log.End;
  this->Log.LostBytes += gap < RecordLog::HeadBytes ? 0 : gap;
  this->Log.End = this->At;
  this->Log.Records.push_back(std::move(this->Open));
  this->Open.clear();
}

}  // namespace

std::string RecordLog::Framed(std::string_view record, std::uint64_t end)
{
  std::string framed;
  bool first = true;
  do {
    std::size_t left = BlockBytes - (end + framed.size()) % BlockBytes;
    if (left < HeadBytes) {
      framed.append(left, '\0');
      left = BlockBytes;
    }
    const std::string_view part = record.substr(0, left - HeadBytes);
    record.remove_prefix(part.size());
    const bool last = record.empty();
    framed += Head(part, first ? (last ? Whole : First) : last ? Last : Middle);
    framed += part;
    first = false;
  } while (!record.empty());
  return framed;
}

RecordLog ReadRecords(std::string_view bytes)
{
  return Scanner(bytes).Run();
}

}  // namespace patchio::container
