#include "Hdf5/Library.h"

#include <cstdlib>
#include <map>
#include <mutex>
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
// What the first of all scopes found.
int quietScopes = 0;
H5E_auto2_t tellingFunction = nullptr;
void* tellingData = nullptr;
}  // namespace

QuietScope::QuietScope()
{
  if (quietScopes++ == 0) {
    H5Eget_auto2(H5E_DEFAULT, &tellingFunction, &tellingData);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
}

QuietScope::~QuietScope()
{
  if (--quietScopes == 0) {
    H5Eset_auto2(H5E_DEFAULT, tellingFunction, tellingData);
  }
}

namespace {

herr_t KeepInnermost(unsigned depth, const H5E_error2_t* error, void* data)
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
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, KeepInnermost, &message);
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

bool LibraryIsAllowed()
{
  const char* const wish = std::getenv("PATCHIO_HDF5");
  return !wish || std::string(wish) != "strict";
}

bool LibraryHasFilter(int filter)
{
  static std::mutex lock;
  static std::map<int, bool> known;
  if (!LibraryIsAllowed()) {
    return false;
  }
  const std::lock_guard<std::mutex> guard(lock);
  const auto [entry, isNew] = known.emplace(filter, false);
  if (isNew) {
    const QuietScope quiet;
    entry->second = H5Zfilter_avail(filter) > 0;
  }
  return entry->second;
}

}  // namespace patchio::hdf5
