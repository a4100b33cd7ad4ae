// The HDF5 library: handles, errors, settings for its use.
#pragma once

#include "Catalog/Location.h"

#include <hdf5.h>

#include <string>

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

/// Silences HDF5's error printing in its scope. Failures are still visible as return values.
class QuietScope
{
public:
  QuietScope();
  ~QuietScope();
  QuietScope(const QuietScope&) = delete;
  QuietScope& operator=(const QuietScope&) = delete;
};

/// Returns the innermost message on HDF5's error stack, for example "truncated file: eof = 96, ...".
std::string LastMessage();

/// Returns the library's type for numbers of this type in memory.
hid_t NativeType(ElementType type);

/// Returns false if PATCHIO_HDF5=strict forbids reading through the library. LibraryIsAllowed() and
/// LibraryIsTrusted() throw Error if that variable has another value than "strict" and "trust".
bool LibraryIsAllowed();
/// Returns true if PATCHIO_HDF5=trust allows the library to read in this process.
bool LibraryIsTrusted();
/// Returns the version of the HDF5 library, for example "1.10.8".
std::string LibraryVersion();

}  // namespace patchio::hdf5
