// What a k-Wave file holds, as its data sets and attributes say; nothing is concluded from it here.
#pragma once

#include "Hdf5/File.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio::kwave {

enum class FileType
{
  None,  ///< not k-Wave's
  Input,
  Output,
  Checkpoint
};

/// What a path leads to. A file that HDF5 cannot open, but whose beginning has k-Wave's attributes in it, is
/// taken for an output: opening it will say what is wrong. Does not throw.
FileType TypeOfFile(const std::string& path);

/// A data set without its values.
struct DatasetInfo
{
  std::vector<std::uint64_t> Dims;    ///< slowest first
  std::vector<std::uint64_t> Chunks;  ///< empty: not in chunks
  bool Numbers = false;               ///< floats of 4 or 8 bytes, or integers of 4 or 8
  bool Complex = false;

  std::uint64_t Values() const;
};

class KwaveFile
{
public:
  /// Throws Error when the file cannot be opened.
  explicit KwaveFile(const std::string& path) : File(path) {}

  const std::string& Path() const { return this->File.Path(); }
  bool Has(const std::string& name) const { return this->File.Has(name); }
  /// A text attribute of the root without padding; empty when there is none.
  std::string Attribute(const std::string& name) const;
  /// The value of a data set of one value. Throws Error.
  double Number(const std::string& name) const { return this->File.Double(name); }
  double NumberOr(const std::string& name, double otherwise) const;
  /// A count of at least 1, and less than 2^30. Throws Error.
  std::int64_t Count(const std::string& name) const;

  /// Names in the root or in a group, in name order.
  std::vector<std::string> Names(const std::string& group = "/") const;
  bool IsGroup(const std::string& name) const { return this->File.IsGroup(name); }
  /// No dimensions when there is no such data set.
  DatasetInfo Describe(const std::string& name) const;

  /// All values of a data set of integers. Throws Error when there are more than `most`.
  std::vector<std::int64_t> Integers(const std::string& name, std::uint64_t most) const;
  /// The first `count` values of a data set that has as many. Throws Error.
  std::vector<double> Doubles(const std::string& name, std::uint64_t count) const;

private:
  hdf5::File File;
};

}  // namespace patchio::kwave
