#include "Hdf5/Library.h"

#include "Base/Error.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <utility>

namespace patchio::hdf5 {

Handle& Handle::operator=(Handle&& other) noexcept
{
  std::swap(this->Id, other.Id);
  return *this;
}

Handle::~Handle()
{
  if (this->Id >= 0) {
    H5Idec_ref(this->Id);
  }
}

namespace {
// Number of QuietScope objects, and HDF5's error printing before the outermost QuietScope.
int quietScopes = 0;
H5E_auto2_t printFunction = nullptr;
void* printData = nullptr;
}  // namespace

QuietScope::QuietScope()
{
  if (quietScopes++ == 0) {
    H5Eget_auto2(H5E_DEFAULT, &printFunction, &printData);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
}

QuietScope::~QuietScope()
{
  if (--quietScopes == 0) {
    H5Eset_auto2(H5E_DEFAULT, printFunction, printData);
  }
}

namespace {

herr_t StoreInnermost(unsigned depth, const H5E_error2_t* error, void* data)
{
  if (depth == 0 && error->desc) {
    *static_cast<std::string*>(data) = error->desc;
  }
  return 0;
}

}  // namespace

std::string LastMessage()
{
  std::string message;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, StoreInnermost, &message);
  return message.empty() ? "HDF5 gives no reason" : message;
}

hid_t NativeType(ElementType type)
{
  switch (type) {
    case ElementType::Int32:
      return H5T_NATIVE_INT32;
    case ElementType::Int64:
      return H5T_NATIVE_INT64;
    case ElementType::UInt8:
      return H5T_NATIVE_UINT8;
    case ElementType::Int16:
      return H5T_NATIVE_INT16;
    case ElementType::UInt16:
      return H5T_NATIVE_UINT16;
    case ElementType::Int8:
      return H5T_NATIVE_INT8;
    case ElementType::UInt32:
      return H5T_NATIVE_UINT32;
    case ElementType::UInt64:
      return H5T_NATIVE_UINT64;
    case ElementType::Float64:
      return H5T_NATIVE_DOUBLE;
    case ElementType::Float32:
      break;
  }
  return H5T_NATIVE_FLOAT;
}

namespace {

/// Returns the value of the environment variable PATCHIO_HDF5, or an empty text if it is not set. Throws
/// Error for an unknown value.
std::string LibrarySetting()
{
  std::string setting = FromEnvironment("PATCHIO_HDF5");
  if (!setting.empty() && setting != "strict" && setting != "trust") {
    throw Error(
        fmt::format("The environment variable PATCHIO_HDF5 is '{}'; expected 'strict' or 'trust'. "
                    "Set one of these values, or unset the variable.",
            PlainText(setting)));
  }
  return setting;
}

}  // namespace

bool LibraryIsAllowed()
{
  return LibrarySetting() != "strict";
}

bool LibraryIsTrusted()
{
  return LibrarySetting() == "trust";
}

std::string LibraryVersion()
{
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace patchio::hdf5
