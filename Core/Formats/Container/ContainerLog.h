// The log of a container: records with checksums that are appended, and the steps that they tell of.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Formats/Container/StepRecord.h"

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// The log's file in a container's folder.
std::string LogPathOf(const std::string& folder);
/// The folder behind its own name, that of its log, or of a file in it; it need not be a container.
std::string ContainerFolderOf(const std::string& path);
/// True when the folder has a log that begins like one. Does not throw.
bool IsContainer(const std::string& folder);

struct LoggedStep
{
  StepHead Head;
  std::string Bytes;  ///< for Decode()
};

struct ContainerLog
{
  std::vector<LoggedStep> Steps;  ///< of each number the last record, in ascending order
  std::uint64_t End = 0;          ///< where the next record goes
  std::uint64_t LostBytes = 0;    ///< damaged ones among the records
  std::uint64_t BytesAfter = 0;   ///< behind End
};

/// The step whose first file has this name in the log of its folder. The log that was read last stays in
/// memory, and is read again where it has changed. Throws Error like ReadLog(), and when there is none. For
/// any thread.
LoggedStep FindStep(const std::string& path);

/// Throws Error when the folder has no log of a version that is known. Needs no lock: a record that is being
/// written is not there yet.
std::shared_ptr<const ContainerLog> ReadLog(const std::string& folder);

/// Decodes the record of a step. Throws Error, which names the log and the step, if the record is not valid.
StepRecord RecordOf(const std::string& folder, const LoggedStep& step);

/// A step with its patches.
struct RecordedStep
{
  StepRecord Record;
  Catalog Data;           ///< all of it; no FormatData
  std::vector<int> Rows;  ///< see RowsOf(); as they lie in the files
};

/// Reads the tables that say where patches are. Throws Error when a table is damaged or missing, or the
/// record is impossible.
RecordedStep ReadStep(const std::string& folder, const LoggedStep& step);

/// What the tables of the least and the greatest values say of a variable, by patch. Reads no more of them,
/// so only CheckTables() knows whether they are as they were written. Throws Error when they are missing.
std::vector<ValueRange> ReadRanges(
    const std::string& folder, const StepRecord& record, const std::vector<int>& rows, int variable);
/// The checksum of each of the requests, of a patch (as an index into `rows`, a permutation) and a variable.
/// Reads the whole table, because only all of it shows that the file is the one that the log describes.
/// Throws Error when the table is missing, cut off or changed.
std::vector<std::uint32_t> ReadChecksums(const std::string& folder, const StepRecord& record,
    const std::vector<int>& rows, const std::vector<PatchVariable>& requests);
/// Compares all tables with their checksums. Throws Error like ReadStep().
void CheckTables(const std::string& folder, const StepRecord& record);

}  // namespace patchio::container
