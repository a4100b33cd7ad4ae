// The log of a container: appended records with checksums, and the steps that they describe.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Formats/Container/StepRecord.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::container {

/// The records of a log. The log consists of blocks, which contain fragments. The header of a fragment has
/// three little-endian numbers: the CRC-32 of the type and the data of the fragment (4 bytes), the length of
/// the data (2 bytes), and the type (1 byte). A fragment of type 1 is a whole record; fragments of type 2, 3
/// and 4 are the first, a middle and the last part of a record. If the rest of a block is too short for a
/// header, the rest is filled with zeros. LevelDB's log has the same structure.
struct RecordLog
{
  static constexpr std::size_t BlockBytes = 32768;
  static constexpr std::size_t HeaderBytes = 7;

  /// Returns the bytes that add the record to a log that ends at `end`.
  static std::string Frame(std::string_view record, std::uint64_t end);

  std::vector<std::string> Records;
  std::uint64_t End = 0;           ///< offset behind the last complete record, where the next one is written
  std::uint64_t DamagedBytes = 0;  ///< damaged bytes, except TrailingBytes
  /// Bytes at the end of the log, of a record that is being written or was never completed.
  std::uint64_t TrailingBytes = 0;
};

/// Returns the records in the bytes of a log. Accepts any bytes: after damage, this function continues with
/// the next complete record.
RecordLog ReadRecords(std::string_view bytes);

/// Returns the path of the log in a container's folder.
std::string LogPathOf(const std::string& folder);
/// Returns the absolute path of the folder that `path` refers to: `path` is the folder, its log, or a file in
/// it. The folder need not be a container.
std::string ContainerFolderOf(const std::string& path);
/// Returns whether the folder has a log that begins like the log of a container. Does not throw.
bool IsContainer(const std::string& folder);

/// A step with its undecoded record.
struct LoggedStep
{
  StepHead Head;
  std::string Bytes;  ///< the record, for Decode()
};

/// The contents of a container's log.
struct ContainerLog
{
  std::vector<LoggedStep> Steps;    ///< the last record of each step, in ascending order of steps
  std::uint64_t End = 0;            ///< offset at which the next record is written
  std::uint64_t DamagedBytes = 0;   ///< see RecordLog
  std::uint64_t TrailingBytes = 0;  ///< see RecordLog
};

/// Returns the step whose first file is `path`, from the log in the same folder. Caches the log that was read
/// last until the file of the log changes. Throws Error like ReadLog(), and when there is no such step.
/// Thread-safe.
LoggedStep FindStep(const std::string& path);

/// Reads a container's log. No lock is needed, because a record that is being written is not visible yet.
/// Throws Error when the folder has no log of a known version, or a record has an invalid header.
std::shared_ptr<const ContainerLog> ReadLog(const std::string& folder);

/// Decodes the record of a step. Throws Error with the names of the log and the step if the record is
/// invalid.
StepRecord RecordOf(const std::string& folder, const LoggedStep& step);

/// A step with its complete catalog.
struct RecordedStep
{
  StepRecord Record;
  Catalog Data;           ///< complete, but without FormatData
  std::vector<int> Rows;  ///< patch of each row in the files; see RowsOf()
};

/// Makes the catalog of a step from its record and its tables of patches. Throws Error when a table is
/// damaged or missing, or the record or the catalog is invalid.
RecordedStep ReadStep(const std::string& folder, const LoggedStep& step);

/// Returns the least and greatest values of a variable, by patch, from the tables. `rows`: patch of each row.
/// Reads only parts of the tables, so their checksums are not compared; see CheckTables(). Returns an empty
/// list if the step has no tables of ranges. Throws Error if the file with the tables is missing or
/// truncated.
std::vector<ValueRange> ReadRanges(
    const std::string& folder, const StepRecord& record, const std::vector<int>& rows, int variable);
/// Returns the checksum of the values of each request. `rows`: patch of each row. Reads the whole table of
/// checksums, because only the checksum of the table shows that the file is the one that the log describes.
/// Throws Error when the table is missing, truncated or changed.
std::vector<std::uint32_t> ReadChecksums(const std::string& folder, const StepRecord& record,
    const std::vector<int>& rows, const std::vector<PatchVariable>& requests);
/// Compares the checksums of all tables. Throws Error if a table is damaged or truncated.
void CheckTables(const std::string& folder, const StepRecord& record);

}  // namespace patchio::container
