#include "Support/Hdf5.h"

#include "Support/Error.h"
#include "Support/Hdf5Check.h"
#include "Support/Hdf5Signature.h"
#include "Support/Hdf5Superblock.h"
#include "Support/PlainFile.h"
#include "Support/RegularFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace patchio::hdf5 {
namespace {

herr_t KeepInnermost(unsigned depth, const H5E_error2_t* error, void* data)
{
  if (depth == 0 && error->desc) {
    *static_cast<std::string*>(data) = error->desc;
  }
  return 0;
}

herr_t RefuseExternalLink(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*)
{
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_LINK, H5E_TRAVERSE, ExternalLink);
  return -1;
}

/// Access through links of this file only.
Handle AccessInside(hid_t propertyClass)
{
  Handle access(H5Pcreate(propertyClass));
  H5Pset_elink_cb(access, RefuseExternalLink, nullptr);
  return access;
}

}  // namespace

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

std::string LastMessage()
{
  std::string message;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, KeepInnermost, &message);
  return message.empty() ? "HDF5 gives no reason" : message;
}

const char* WhyElsewhere(hid_t dataset)
{
  if (H5Dget_offset(dataset) != HADDR_UNDEF) {
    return nullptr;
  }
  const Handle creation(H5Dget_create_plist(dataset));
  return H5Pget_external_count(creation) > 0      ? ValuesElsewhere
         : H5Pget_layout(creation) == H5D_VIRTUAL ? VirtualDataset
                                                  : nullptr;
}

Handle AccessToRead()
{
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_file_locking(access, false, true);
  return access;
}

Handle OpenToRead(const std::string& path, const Handle& access)
{
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
  return file.Valid() ? std::move(file) : Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
}

File::File(const std::string& path)
    : PathName(path),
      LinkAccess(AccessInside(H5P_LINK_ACCESS)),
      GroupAccess(AccessInside(H5P_GROUP_ACCESS)),
      DatasetAccess(AccessInside(H5P_DATASET_ACCESS))
{
  QuietScope quiet;
  CheckRegularFile(path);
  try {
    this->Check = std::make_unique<StructureCheck>(path);
  } catch (const Unsound& unsound) {
    CheckComplete(path);
    throw FileError(path, "a complete HDF5 file", "an HDF5 file that has " + std::string(unsound.what()),
        "The file is damaged, truncated or still being written");
  }
  const Handle access = AccessToRead();
  this->Handle_ = OpenToRead(path, access);
  if (!this->Handle_.Valid()) {
    const std::string reason = LastMessage();
    const bool hdf5 = H5Fis_hdf5(path.c_str()) > 0;
    CheckComplete(path);
    throw FileError(path, "a complete HDF5 file",
        hdf5 ? "an HDF5 file that cannot be opened (" + reason + ")" : "a file that is not HDF5",
        "The file is damaged, truncated or still being written");
  }
}

File::~File() = default;

namespace {

/// Gives LastMessage() this reason.
void PushReason(const std::string& reason)
{
  H5Epush2(
      H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_SYM, H5E_CANTOPENOBJ, "%s", reason.c_str());
}

#if H5_VERSION_GE(1, 12, 0)
using LinkInfo = H5L_info1_t;
constexpr auto GetLinkInfo = H5Lget_info1;
#else
using LinkInfo = H5L_info_t;
constexpr auto GetLinkInfo = H5Lget_info;
#endif

std::uint64_t AddressOf(hid_t object)
{
#if H5_VERSION_GE(1, 12, 0)
  H5O_info1_t info = {};
  return H5Oget_info1(object, &info) >= 0 ? info.addr : NoAddress;
#else
  H5O_info_t info = {};
  return H5Oget_info(object, &info) >= 0 ? info.addr : NoAddress;
#endif
}

}  // namespace

/// Why the member of a group must not be opened; empty: it may.
std::string File::WhyNotLink(hid_t group, const std::string& name, int links) const
{
  constexpr std::size_t longest = 4096;
  LinkInfo info = {};
  if (GetLinkInfo(group, name.c_str(), &info, this->LinkAccess) < 0) {
    return LastMessage();
  }
  if (info.type == H5L_TYPE_HARD) {
    try {
      this->Check->Object(info.u.address);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  if (info.type != H5L_TYPE_SOFT || links == 0 || info.u.val_size > longest) {
    return info.type == H5L_TYPE_SOFT ? "links that lead to links" : ExternalLink;
  }
  std::string target(info.u.val_size, '\0');
  if (H5Lget_val(group, name.c_str(), target.data(), target.size(), this->LinkAccess) < 0) {
    return LastMessage();
  }
  return this->WhyNot(group, target.c_str(), links - 1);
}

/// Why the object must not be opened, or one on the way to it; empty: it may.
std::string File::WhyNot(hid_t parent, const std::string& path, int links) const
{
  Handle held;
  hid_t group = !path.empty() && path[0] == '/' ? hid_t(this->Handle_) : parent;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") {
      continue;
    }
    const std::string reason = this->WhyNotLink(group, name, links);
    if (!reason.empty() || path.find_first_not_of("/.", begin) == std::string::npos) {
      return reason;
    }
    Handle next(H5Gopen2(group, name.c_str(), this->GroupAccess));
    if (!next.Valid()) {
      return LastMessage();
    }
    held = std::move(next);
    group = held;
  }
  return {};
}

/// Else LastMessage() says why not.
bool File::MayOpen(hid_t parent, const std::string& path) const
{
  const std::string reason = this->WhyNot(parent, path);
  if (!reason.empty()) {
    PushReason(reason);
  }
  return reason.empty();
}

Handle File::OpenGroup(hid_t parent, const std::string& group) const
{
  QuietScope quiet;
  return this->MayOpen(parent, group) ? Handle(H5Gopen2(parent, group.c_str(), this->GroupAccess)) : Handle();
}

Handle File::OpenDataset(hid_t parent, const std::string& dataset) const
{
  QuietScope quiet;
  if (!this->MayOpen(parent, dataset)) {
    return {};
  }
  Handle handle(H5Dopen2(parent, dataset.c_str(), this->DatasetAccess));
  if (const char* const reason = handle.Valid() ? WhyElsewhere(handle) : nullptr) {
    handle = Handle();
    PushReason(reason);
  }
  return handle;
}

void File::CheckChunks(hid_t dataset) const
{
  QuietScope quiet;
  this->Check->Chunks(AddressOf(dataset));
}

bool File::HasLink(hid_t parent, const std::string& link) const
{
  // H5Lexists fails, rather than saying no, when a group on the way is missing: ask for each in turn.
  const std::size_t slash = link.rfind('/');
  const std::string group = slash == std::string::npos ? "" : link.substr(0, slash);
  if (!group.empty() && !this->HasLink(parent, group)) {
    return false;
  }
  QuietScope quiet;
  std::string reason = this->WhyNot(parent, group);
  const htri_t found = reason.empty() ? H5Lexists(parent, link.c_str(), this->LinkAccess) : -1;
  if (found < 0 && reason.empty()) {
    reason = LastMessage();
    if (!group.empty() && !Handle(H5Gopen2(parent, group.c_str(), this->GroupAccess)).Valid()) {
      return false;  // a data set, which has no links
    }
  }
  if (found < 0) {
    this->RequireSound(group.empty() ? link : group, reason);
  }
  return found > 0;
}

bool File::Has(const std::string& object) const
{
  return this->HasLink(this->Handle_, object);
}

void File::CheckObject(const std::string& object) const
{
  if (this->Has(object)) {
    QuietScope quiet;
    this->RequireSound(object, this->WhyNot(this->Handle_, object));
  }
}

void File::RequireSound(const std::string& object, const std::string& reason) const
{
  if (!reason.empty() && reason != ExternalLink && reason != ValuesElsewhere && reason != VirtualDataset) {
    throw FileError(this->PathName, fmt::format("a readable object '{}'", object),
        "a damaged one (" + reason + ")", DamagedOrForeign);
  }
}

Handle File::OpenDataset(const std::string& dataset) const
{
  Handle handle = this->OpenDataset(this->Handle_, dataset);
  if (!handle.Valid()) {
    const std::string reason = LastMessage();  // before Has() clears it
    const bool elsewhere = reason == ExternalLink || reason == ValuesElsewhere || reason == VirtualDataset;
    throw FileError(this->PathName, fmt::format("a data set '{}'", dataset),
        elsewhere || this->Has(dataset) ? "an unreadable data set (" + reason + ")" : "none",
        elsewhere ? "PatchIO does not support this" : DamagedOrForeign);
  }
  return handle;
}

bool HasSignature(const std::string& path)
{
  try {
    char bytes[Hdf5Signature.size()] = {};
    return PlainFile(path).ReadSome(0, bytes, sizeof bytes) == sizeof bytes &&
           std::string_view(bytes, sizeof bytes) == Hdf5Signature;
  } catch (const Error&) {
    return false;  // a folder, a pipe, or nothing that can be read
  }
}

bool CanOpen(const std::string& path)
{
  try {
    const File file(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace patchio::hdf5
