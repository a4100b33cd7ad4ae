// Handles and errors of the HDF5 library, and the settings that allow or forbid the library.
#pragma once

#include "Catalog/Location.h"

#include <hdf5.h>

#include <string>

namespace patchio::hdf5 {

/// Owns an HDF5 identifier of any type, and releases the identifier in the destructor.
class Handle
{
public:
  Handle() = default;
  explicit Handle(hid_t id) : Id(id) {}
  Handle(Handle&& other) noexcept : Id(other.Id) { other.Id = H5I_INVALID_HID; }
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();
  operator hid_t() const { return this->Id; }
  bool IsValid() const { return this->Id >= 0; }

private:
  hid_t Id = H5I_INVALID_HID;
};

/// Turns off the error printing of HDF5 for the lifetime of this object. HDF5 functions still return errors.
/// Not thread-safe.
class QuietScope
{
public:
  QuietScope();
  ~QuietScope();
  QuietScope(const QuietScope&) = delete;
  QuietScope& operator=(const QuietScope&) = delete;
};

/// Returns the innermost message on HDF5's error stack, for example "truncated file: eof = 96, ...", or "HDF5
/// gives no reason" if the stack has no message.
std::string LastMessage();

/// Returns the HDF5 type of numbers of type `type` in memory.
hid_t NativeType(ElementType type);

/// Returns whether PatchIO may read values with the library: false if the environment variable PATCHIO_HDF5
/// is "strict". Throws Error if PATCHIO_HDF5 has a value other than "strict" and "trust".
bool LibraryIsAllowed();
/// Returns whether the library may read in this process: true if PATCHIO_HDF5 is "trust". Throws Error like
/// LibraryIsAllowed().
bool LibraryIsTrusted();
/// Returns the version of the HDF5 library, for example "1.10.8".
std::string LibraryVersion();

}  // namespace patchio::hdf5
