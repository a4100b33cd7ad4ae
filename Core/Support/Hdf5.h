// The HDF5 calls that PatchIO makes, each behind a handle that closes itself and an error that says which
// object of which file is at fault. One thread only: the HDF5 that ParaView links is not thread-safe.
#pragma once

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio::hdf5 {

/// Owns one HDF5 identifier of any kind.
class Handle
{
public:
  Handle() = default;
  explicit Handle(hid_t id) : Id(id) {}
  Handle(Handle&& other) noexcept : Id(other.Id) { other.Id = H5I_INVALID_HID; }
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();
  operator hid_t() const { return this->Id; }
  bool Valid() const { return this->Id >= 0; }

private:
  hid_t Id = H5I_INVALID_HID;
};

/// Silences HDF5's own error printing in this scope; failures come back as return values.
class QuietScope
{
public:
  QuietScope();
  ~QuietScope();
  QuietScope(const QuietScope&) = delete;
  QuietScope& operator=(const QuietScope&) = delete;
};

class StructureCheck;

/// How the library opens a file to read it: without a lock, as parallel file systems are often mounted
/// without them. Must be held while LastMessage() is wanted: closing it clears the reason of a failure.
Handle AccessToRead();
/// Opens the file with AccessToRead(), or with locks if a reader of ParaView has it open with locks in this
/// process. Returns an invalid handle if the file cannot be opened.
Handle OpenToRead(const std::string& path, const Handle& access);

/// What LastMessage() says of objects that are sound, but that File does not open.
constexpr const char* ExternalLink = "external links are not supported";
constexpr const char* ValuesElsewhere = "values in other files are not supported";
constexpr const char* VirtualDataset = "virtual data sets are not supported";

/// ValuesElsewhere or VirtualDataset when the library would take the values of an open data set from other
/// files or data sets, wherever they are; else null.
const char* WhyElsewhere(hid_t dataset);

/// The innermost message on HDF5's error stack, for example "truncated file: eof = 96, ...".
std::string LastMessage();

/// An open file, for reading. External links are never followed, and data sets whose values are in other
/// files never opened: their bytes are elsewhere, and what lies there may be anything. The library gets to
/// see an object only after StructureCheck has.
class File
{
public:
  /// Throws Error when the file is missing, unreadable, not HDF5, truncated or still being written.
  explicit File(const std::string& path);
  ~File();
  const std::string& Path() const { return this->PathName; }
  hid_t Id() const { return this->Handle_; }

  /// True when this file has every link on the way to `object`, and the one to it. Throws Error for a damaged
  /// group on the way, which must not pass for one without links.
  bool Has(const std::string& object) const;
  /// Throws Error for an object that is there and damaged. Returns if it is not there.
  void CheckObject(const std::string& object) const;
  /// Throws Error for an object that cannot be read, unless the reason is that this class does not open such
  /// objects. reason: of LastMessage(); empty: the object is sound.
  void RequireSound(const std::string& object, const std::string& reason) const;

  /// Objects of this file below `parent`, the file or an open group of it; LastMessage() says why a handle is
  /// not valid.
  Handle OpenGroup(hid_t parent, const std::string& group) const;
  Handle OpenDataset(hid_t parent, const std::string& dataset) const;
  /// True when `parent` has the link. False as well when a group on the way is missing. Throws like Has().
  bool HasLink(hid_t parent, const std::string& link) const;
  /// Must be called before the library looks for chunks of an open data set. Throws Error where their list is
  /// damaged.
  void CheckChunks(hid_t dataset) const;

  /// Whole data sets, converted to the native type. `expectedCount` is checked before anything is
  /// allocated; -1 takes whatever is there, up to 2^28 values.
  std::vector<double> Doubles(const std::string& dataset, std::int64_t expectedCount) const;
  std::vector<int> Ints(const std::string& dataset, std::int64_t expectedCount) const;
  std::vector<std::string> Strings(const std::string& dataset, std::int64_t expectedCount) const;

  /// The value of a data set that has one; an array of one does too.
  double Double(const std::string& dataset) const { return this->Doubles(dataset, 1)[0]; }
  int Int(const std::string& dataset) const { return this->Ints(dataset, 1)[0]; }
  std::string String(const std::string& dataset) const { return this->Strings(dataset, 1)[0]; }

  /// `count` values from position `first` of a data set, its last axis fastest, into `values` as
  /// `memoryType`. The values must be one whole block of it: all, or some neighbours along one axis. Throws
  /// Error when they are not there.
  void Range(const std::string& dataset, std::uint64_t first, std::uint64_t count, hid_t memoryType,
      void* values) const;

  /// A data set of compounds, read by member name into records of `recordBytes` laid out by `memoryType`.
  void Compounds(
      const std::string& dataset, std::uint64_t expectedCount, hid_t memoryType, void* records) const;

private:
  Handle OpenDataset(const std::string& dataset) const;
  std::string WhyNot(hid_t parent, const std::string& path, int links = 16) const;
  std::string WhyNotLink(hid_t group, const std::string& name, int links) const;
  bool MayOpen(hid_t parent, const std::string& path) const;
  void ReadValues(const std::string& dataset, hid_t handle, hid_t type, void* into,
      hid_t memorySpace = H5S_ALL, hid_t fileSpace = H5S_ALL) const;
  template <typename T>
  std::vector<T> ReadNumbers(const std::string& dataset, std::int64_t expectedCount, hid_t type) const;

  std::string PathName;
  std::unique_ptr<StructureCheck> Check;
  Handle Handle_;
  Handle LinkAccess, GroupAccess, DatasetAccess;  ///< property lists
};

/// True when the file begins as HDF5 files do. Does not throw.
bool HasSignature(const std::string& path);
/// True when File can open it. Does not throw.
bool CanOpen(const std::string& path);

/// A text attribute of an object, whichever way it was written; empty when there is none.
std::string TextAttribute(hid_t object, const std::string& name);

/// The values of an attribute of numbers; none where there is no such attribute.
std::vector<double> NumbersAttribute(hid_t object, const std::string& name);

/// Values per axis of an open data set, slowest first; none where the handle is not valid.
std::vector<std::uint64_t> DimsOf(hid_t dataset);

/// Names of the links in a group, in name order.
std::vector<std::string> LinkNames(const File& file, const std::string& group);

}  // namespace patchio::hdf5
