// The HDF5 library: handles and errors.
#pragma once

#include "Catalog/Extent.h"

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

/// Silences HDF5's own error printing in this scope; failures come back as return values.
class QuietScope
{
public:
  QuietScope();
  ~QuietScope();
  QuietScope(const QuietScope&) = delete;
  QuietScope& operator=(const QuietScope&) = delete;
};

/// The innermost message on HDF5's error stack, for example "truncated file: eof = 96, ...".
std::string LastMessage();

/// The library's type of numbers in memory.
hid_t NativeType(ElementType type);

/// False where PATCHIO_HDF5=strict forbids to read through the library. Throws Error when that variable has
/// another value than "strict", "trust" and none; so does LibraryIsTrusted().
bool LibraryIsAllowed();
/// True where PATCHIO_HDF5=trust lets the library read in this process.
bool LibraryIsTrusted();
/// Of the library: "1.10.8".
std::string LibraryVersion();

}  // namespace patchio::hdf5
