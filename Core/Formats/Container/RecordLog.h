// A log of checksummed records, framed as LevelDB frames its log: blocks of 32 KiB, in them fragments with a
// head of 7 bytes. A record that was not written to its end is recognized, and what lies before it is whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::container {

/// A head is: CRC-32 of all that follows in the fragment (4 bytes), length of the data (2), kind of fragment
/// (1: a whole record, 2: its first part, 3: a middle one, 4: the last); little-endian. A block's last bytes
/// are zeros where no head fits in.
struct RecordLog
{
  static constexpr std::size_t BlockBytes = 32768;
  static constexpr std::size_t HeadBytes = 7;

  /// What is to be written at `end`, the end of a log, to add the record.
  static std::string Framed(std::string_view record, std::uint64_t end);

  std::vector<std::string> Records;
  std::uint64_t End = 0;        ///< behind the last whole record: where the next one goes
  std::uint64_t LostBytes = 0;  ///< damaged: between whole records, or a last record that has its full length
  std::uint64_t BytesAfter = 0;  ///< of a last record that is being written, or never was to its end
};

/// The records of a log of these bytes. Takes any bytes: after damage it goes on with the next whole record.
RecordLog ReadRecords(std::string_view bytes);

}  // namespace patchio::container
