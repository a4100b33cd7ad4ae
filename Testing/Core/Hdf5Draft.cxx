#include "Hdf5Draft.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace patchio::testing {
namespace {

hid_t Checked(hid_t id)
{
  if (id < 0) {
    throw std::runtime_error("the test could not write its HDF5 file");
  }
  return id;
}

hid_t MakeGroupsOnTheWay()
{
  const hid_t links = Checked(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links, 1);
  return links;
}

using ChooseCreation = std::function<void(hid_t creation)>;

void Write(hid_t file, const std::string& path, hid_t fileType, hid_t memoryType, std::vector<hsize_t> shape,
    const void* values, const ChooseCreation& choose = {})
{
  const hid_t links = MakeGroupsOnTheWay();
  const hid_t creation = Checked(H5Pcreate(H5P_DATASET_CREATE));
  if (choose) {
    choose(creation);
  }
  const hid_t space = Checked(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  const hid_t dataset =
      Checked(H5Dcreate2(file, path.c_str(), fileType, space, links, creation, H5P_DEFAULT));
  if (values) {
    Checked(H5Dwrite(dataset, memoryType, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  }
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(creation);
  H5Pclose(links);
}

/// Rows of three where that is how SAMRAI has them.
std::vector<hsize_t> Rows(std::size_t count)
{
  return {count / 3, 3};
}

struct Member
{
  const char* Name;
  std::size_t Offset;
  hid_t Type;
};

/// Members in the order in which the file shall have them.
DraftDataset MakeRecords(
    std::vector<std::byte> bytes, std::size_t size, const std::function<std::vector<Member>()>& members)
{
  return [=](hid_t file, const std::string& path) {
    const hid_t type = Checked(H5Tcreate(H5T_COMPOUND, size));
    for (const Member& member : members()) {
      Checked(H5Tinsert(type, member.Name, member.Offset, member.Type));
    }
    Write(file, path, type, type, {bytes.size() / size}, bytes.data());
    H5Tclose(type);
  };
}

template <typename T>
std::vector<std::byte> Raw(const std::vector<T>& values)
{
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}

hid_t TripleOf(hid_t type)
{
  const hsize_t three = 3;
  return Checked(H5Tarray_create2(type, 1, &three));
}

}  // namespace

DraftDataset Ints(const std::vector<int>& values)
{
  return [=](hid_t file, const std::string& path) {
    Write(file, path, H5T_STD_I32BE, H5T_NATIVE_INT, {values.size()}, values.data());
  };
}

DraftDataset Floats(const std::vector<float>& values)
{
  return [=](hid_t file, const std::string& path) {
    Write(file, path, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, {values.size()}, values.data());
  };
}

DraftDataset Doubles(const std::vector<double>& values)
{
  return [=](hid_t file, const std::string& path) {
    Write(file, path, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, {values.size()}, values.data());
  };
}

DraftDataset Texts(const std::vector<std::string>& values)
{
  return [=](hid_t file, const std::string& path) {
    std::size_t width = 1;
    for (const std::string& text : values) {
      width = std::max(width, text.size() + 1);
    }
    std::vector<char> bytes(width * values.size(), '\0');
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::copy(values[i].begin(), values[i].end(), bytes.begin() + i * width);
    }
    const hid_t type = Checked(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, width);
    Write(file, path, type, type, {values.size()}, bytes.data());
    H5Tclose(type);
  };
}

DraftDataset NativeInts(const std::vector<int>& values)
{
  return [=](hid_t file, const std::string& path) {
    Write(file, path, H5T_NATIVE_INT, H5T_NATIVE_INT, Rows(values.size()), values.data());
  };
}

DraftDataset NativeDoubles(const std::vector<double>& values)
{
  return [=](hid_t file, const std::string& path) {
    Write(file, path, H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, Rows(values.size()), values.data());
  };
}

DraftDataset LittleEndianFloats(const std::vector<float>& values)
{
  return [=](hid_t file, const std::string& path) {
    Write(file, path, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {values.size()}, values.data());
  };
}

DraftDataset ChunkedFloats(const std::vector<float>& values)
{
  const hsize_t all = values.size();
  return FloatsStoredAs(values, {all}, [=](hid_t creation) { H5Pset_chunk(creation, 1, &all); });
}

DraftDataset FloatsStoredAs(
    const std::vector<float>& values, const std::vector<hsize_t>& shape, const ChooseCreation& choose)
{
  return [=](hid_t file, const std::string& path) {
    Write(file, path, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, shape, values.empty() ? nullptr : values.data(),
        choose);
  };
}

DraftDataset FloatsOfType(const std::vector<float>& values, hid_t fileType)
{
  return [=](hid_t file, const std::string& path) {
    Write(file, path, fileType, H5T_NATIVE_FLOAT, {values.size()}, values.data());
  };
}

DraftDataset ExternalLink(const std::string& file, const std::string& object)
{
  return [=](hid_t parent, const std::string& path) {
    const hid_t links = MakeGroupsOnTheWay();
    Checked(H5Lcreate_external(file.c_str(), object.c_str(), parent, path.c_str(), links, H5P_DEFAULT));
    H5Pclose(links);
  };
}

DraftDataset SoftLink(const std::string& object)
{
  return [=](hid_t parent, const std::string& path) {
    const hid_t links = MakeGroupsOnTheWay();
    Checked(H5Lcreate_soft(object.c_str(), parent, path.c_str(), links, H5P_DEFAULT));
    H5Pclose(links);
  };
}

DraftDataset Records(const std::vector<PatchMapDraft>& values)
{
  return MakeRecords(Raw(values), sizeof(PatchMapDraft), [] {
    return std::vector<Member>{{"processor_number", offsetof(PatchMapDraft, Processor), H5T_NATIVE_INT},
        {"file_cluster_number", offsetof(PatchMapDraft, Cluster), H5T_NATIVE_INT},
        {"level_number", offsetof(PatchMapDraft, Level), H5T_NATIVE_INT},
        {"patch_number", offsetof(PatchMapDraft, Patch), H5T_NATIVE_INT}};
  });
}

DraftDataset Records(const std::vector<PatchExtentsDraft>& values)
{
  return MakeRecords(Raw(values), sizeof(PatchExtentsDraft), [] {
    const hid_t ints = TripleOf(H5T_NATIVE_INT);
    const hid_t doubles = TripleOf(H5T_NATIVE_DOUBLE);
    return std::vector<Member>{{"lower", offsetof(PatchExtentsDraft, Lower), ints},
        {"upper", offsetof(PatchExtentsDraft, Upper), ints},
        {"xlo", offsetof(PatchExtentsDraft, LowerCorner), doubles},
        {"xup", offsetof(PatchExtentsDraft, UpperCorner), doubles}};
  });
}

DraftDataset Records(const std::vector<MinMaxDraft>& values)
{
  return MakeRecords(Raw(values), sizeof(MinMaxDraft), [] {
    return std::vector<Member>{{"data_is_defined", offsetof(MinMaxDraft, Defined), H5T_NATIVE_CHAR},
        {"material_composition_flag", offsetof(MinMaxDraft, MaterialFlag), H5T_NATIVE_INT},
        {"species_composition_flag", offsetof(MinMaxDraft, SpeciesFlag), H5T_NATIVE_INT},
        {"min", offsetof(MinMaxDraft, Min), H5T_NATIVE_DOUBLE},
        {"max", offsetof(MinMaxDraft, Max), H5T_NATIVE_DOUBLE}};
  });
}

DraftDataset Records(const std::vector<PointerDraft>& values)
{
  return MakeRecords(Raw(values), sizeof(PointerDraft), [] {
    return std::vector<Member>{{"offset", offsetof(PointerDraft, Offset), H5T_NATIVE_INT},
        {"number_children", offsetof(PointerDraft, Count), H5T_NATIVE_INT}};
  });
}

void InNewStyle(hid_t /*creation*/, hid_t access)
{
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
}

void WriteHdf5(const std::string& path, const Hdf5Draft& draft)
{
  WriteHdf5(path, draft, [](hid_t, hid_t) {});
}

void WriteHdf5(const std::string& path, const Hdf5Draft& draft,
    const std::function<void(hid_t creation, hid_t access)>& choose)
{
  const hid_t creation = Checked(H5Pcreate(H5P_FILE_CREATE));
  const hid_t access = Checked(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);  // not the default of HDF5 2
  choose(creation, access);
  const hid_t file = Checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access));
  for (const auto& [name, write] : draft) {
    write(file, name);
  }
  H5Fclose(file);
  H5Pclose(access);
  H5Pclose(creation);
}

}  // namespace patchio::testing
