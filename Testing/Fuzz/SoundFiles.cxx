#include "SoundFiles.h"

#include "SamraiDraft.h"
#include "TestTools.h"
#include "Write/ContainerWriter.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace fs = std::filesystem;

namespace patchio::fuzz {

const char* const GradsText =
    "dset ^a.bin\noptions little_endian\nundef -999\nxdef 3 linear 100 0.5\nydef 2 linear 20 0.25\n"
    "zdef 2 levels 1000 500\ntdef 2 linear 12z28feb2016 12hr\nvars 2\nu 2 99 wind\nps 0 99 "
    "pressure\nendvars\n";

namespace {

void MakeSamrai(const std::string& folder)
{
  Catalog catalog = testing::SmallCatalog();
  catalog.Step = 0;
  testing::WriteDump(folder, catalog);
  testing::WriteText(folder + "/dumps.visit", "visit_dump.00000/summary.samrai\n");
}

void MakePlotfile(const std::string& folder)
{
  fs::create_directories(folder + "/Level_0");
  testing::WriteText(folder + "/Header",
      "HyperCLaw-V1.1\n2\ndensity\nx velocity\n2\n0.5\n0\n1 2 \n5 4 \n\n((0,0) (7,3) (0,0)) \n12 \n0.5 0.5 \n"
      "0\n0\n0 2 0.5\n12\n1 3\n2 4\n3 5\n2 4\nLevel_0/Cell\n");
  testing::WriteText(folder + "/Level_0/Cell_H",
      "1\n1\n2\n0\n(2 0\n((0,0) (3,3) (0,0))\n((4,0) (7,3) (0,0))\n)\n2\n"
      "FabOnDisk: Cell_D_00000 0\nFabOnDisk: Cell_D_00000 336\n\n2,2\n0,0,\n0,0,\n\n2,2\n1,1,\n1,1,\n");
  std::string data;
  for (const char* box : {"((0,0) (3,3) (0,0)) 2\n", "((4,0) (7,3) (0,0)) 2\n"}) {
    data += std::string("FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))") + box;
    data += std::string(32 * sizeof(double), '\1');
  }
  testing::WriteText(folder + "/Level_0/Cell_D_00000", data);
}

void PutText(hid_t object, const char* name, const std::string& text)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, text.size() + 1);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, text.c_str());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void MakeKwave(const std::string& path)
{
  const auto plain = [](hid_t) {};
  const auto chunked = [](hid_t creation) {
    const hsize_t chunk[] = {1, 3, 4};
    H5Pset_chunk(creation, 3, chunk);
    H5Pset_deflate(creation, 1);
  };
  testing::Hdf5Draft draft{{"/sensor_mask_type", testing::FloatsStoredAs({0}, {1, 1, 1}, plain)},
      {"/sensor_mask_index", testing::FloatsStoredAs({1, 5}, {1, 1, 2}, plain)},
      {"/p", testing::FloatsStoredAs(std::vector<float>(6, 2), {1, 3, 2}, plain)},
      {"/p_final", testing::FloatsStoredAs(std::vector<float>(24, 1), {2, 3, 4}, chunked)}};
  const std::pair<const char*, float> numbers[] = {{"Nx", 4}, {"Ny", 3}, {"Nz", 2}, {"Nt", 3}, {"t_index", 3},
      {"dt", 0.5f}, {"dx", 0.25f}, {"dy", 0.5f}, {"dz", 1}};
  for (const auto& [name, value] : numbers) {
    draft[std::string("/") + name] = testing::FloatsStoredAs({value}, {1, 1, 1}, plain);
  }
  testing::WriteHdf5(path, draft);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  PutText(file, "created_by", "kspaceFirstOrder-OMP v1.3");
  PutText(file, "file_type", "output");
  PutText(file, "major_version", "1");
  PutText(file, "minor_version", "2");
  H5Fclose(file);
}

/// Writes values of a type as a data set, chunked or in its header, and as an attribute of the same name.
void PutOfType(hid_t file, const char* name, hid_t type, const void* values, H5D_layout_t layout)
{
  const hsize_t two[] = {2};
  const hid_t space = H5Screate_simple(1, two, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_layout(creation, layout);
  if (layout == H5D_CHUNKED) {
    H5Pset_chunk(creation, 1, two);
  }
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  const hid_t attribute = H5Acreate2(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Awrite(attribute, type, values);
  H5Aclose(attribute);
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(space);
}

/// Writes types that PatchIO and its tests do not write otherwise.
void PutTypes(hid_t file)
{
  char plain[64] = {1, 2, 3};
  int parts[] = {4, 5, 6};
  const hvl_t lists[] = {{3, parts}, {0, nullptr}};
  hobj_ref_t references[2] = {};
  const char* const texts[] = {"one", "another"};
  const hsize_t shape[] = {2};
  const hid_t color = H5Tenum_create(H5T_NATIVE_INT);
  for (int& value : parts) {
    H5Tenum_insert(color, std::to_string(value).c_str(), &value);
  }
  const hid_t opaque = H5Tcreate(H5T_OPAQUE, 4);
  H5Tset_tag(opaque, "four bytes");
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  const hid_t list = H5Tvlen_create(H5T_NATIVE_INT), array = H5Tarray_create2(H5T_NATIVE_SHORT, 1, shape);
  const hid_t record = H5Tcreate(H5T_COMPOUND, 16);
  H5Tinsert(record, "color", 0, color);
  H5Tinsert(record, "array", 4, array);
  H5Tinsert(record, "bits", 8, H5T_NATIVE_B32);
  const hid_t shared = H5Tcopy(H5T_NATIVE_DOUBLE);
  H5Tcommit2(file, "type", shared, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  PutOfType(file, "enumeration", color, plain, H5D_CONTIGUOUS);
  PutOfType(file, "opaque", opaque, plain, H5D_COMPACT);
  PutOfType(file, "time", H5T_UNIX_D32LE, plain, H5D_CONTIGUOUS);
  PutOfType(file, "bits", H5T_NATIVE_B16, plain, H5D_CHUNKED);
  PutOfType(file, "array", array, plain, H5D_COMPACT);
  PutOfType(file, "record", record, plain, H5D_CHUNKED);
  PutOfType(file, "shared", shared, plain, H5D_CONTIGUOUS);
  PutOfType(file, "list", list, lists, H5D_CONTIGUOUS);
  PutOfType(file, "text", text, texts, H5D_CONTIGUOUS);
  H5Rcreate(&references[0], file, "array", H5R_OBJECT, -1);
  H5Rcreate(&references[1], file, "list", H5R_OBJECT, -1);
  PutOfType(file, "reference", H5T_STD_REF_OBJ, references, H5D_CONTIGUOUS);
  for (const hid_t type : {color, opaque, text, list, array, record, shared}) {
    H5Tclose(type);
  }
}

/// Makes a file. style: oldest version of its objects. Old headers, heaps and trees have no checksums.
void MakeTypes(const std::string& path, H5F_libver_t style)
{
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, style, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  PutTypes(file);
  H5Fclose(file);
  H5Pclose(access);
}

/// Makes a file in the new style, with a group in the old style.
void MakeNewTypes(const std::string& path)
{
  MakeTypes(path, H5F_LIBVER_LATEST);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "old", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  PutTypes(group);
  H5Gclose(group);
  H5Fclose(file);
}

/// Makes a file in the new style with all kinds of chunk lists, values in a header, and a group in a heap.
void MakeNewChunks(const std::string& path)
{
  using testing::FloatsStoredAs;
  const std::vector<float> values(30, 1);
  const auto chunked = [](hsize_t length, bool early, bool compressed) {
    return [=](hid_t creation) {
      H5Pset_chunk(creation, 1, &length);
      if (early) {
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
      }
      if (compressed) {
        H5Pset_deflate(creation, 1);
      }
    };
  };
  testing::Hdf5Draft draft{{"/single", FloatsStoredAs(values, {30}, chunked(30, false, true))},
      {"/implicit", FloatsStoredAs(values, {30}, chunked(4, true, false))},
      {"/fixed", FloatsStoredAs(values, {30}, chunked(4, false, true))},
      {"/compact",
          FloatsStoredAs(values, {30}, [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); })}};
  for (int i = 0; i < 40; ++i) {
    draft["/many/" + std::to_string(i)] = testing::Ints({i});
  }
  for (const auto& [name, axes] : {std::pair<const char*, int>{"/extensible", 1}, {"/tree", 2}}) {
    draft[name] = [axes = axes](hid_t file, const std::string& object) {
      const hsize_t dims[] = {15, 2}, most[] = {H5S_UNLIMITED, axes == 1 ? 2 : H5S_UNLIMITED},
                    chunk[] = {1, 1};
      const std::vector<float> ones(30, 1);
      const hid_t space = H5Screate_simple(2, dims, most), creation = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(creation, 2, chunk);
      const hid_t dataset =
          H5Dcreate2(file, object.c_str(), H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT);
      H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones.data());
      H5Dclose(dataset);
      H5Pclose(creation);
      H5Sclose(space);
    };
  }
  testing::WriteHdf5(path, draft, testing::InNewStyle);
}

void MakeContainer(const std::string& folder)
{
  container::StepToWrite step;
  Catalog& data = step.Data;
  data.Dimension = 3;
  data.Step = 7;
  data.Time = 0.5;
  const std::vector<Box> boxes{{{0, 0, 0}, {3, 2, 1}}, {{4, 0, 0}, {7, 2, 1}}};
  testing::AddLevel(data, boxes);
  testing::AddLevel(data, boxes, {2, 2, 2});
  data.Levels[1].Spacing = {0.5, 0.5, 0.5};
  data.Variables.resize(2);
  data.Variables[0].Name = "plain";
  data.Variables[1].Name = "packed";
  data.Variables[1].Components = 3;
  data.Variables[1].Center = Centering::Node;
  data.ResetPresence();
  for (int p = 0; p < 8; ++p) {
    data.SetPresence(p / 4, p % 4, Presence::Stored);
  }
  step.Types = {ElementType::Float64, ElementType::Float32};
  step.Compression = {FilterType::None, FilterType::Deflate};
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  container::ContainerWriter writer(*alone, folder);
  const auto written = writer.Begin(step);
  const std::vector<double> values(1000, 1.5);
  for (int v = 0; v < 2; ++v) {
    for (int p = 0; p < 4; ++p) {
      written->Write({{p, v, values.data()}}, 1);
    }
  }
  writer.Commit(*written);
}

/// The folder of all files, which the destructor removes.
struct Folder
{
  Folder()
  {
    const char* chosen = std::getenv("PATCHIO_FUZZ_TMP");
    std::string name = chosen                   ? chosen
                       : fs::exists("/dev/shm") ? "/dev/shm"
                                                : fs::temp_directory_path().string();
    name += "/patchio_fuzz_XXXXXX";
    if (!::mkdtemp(name.data())) {
      throw std::runtime_error("no temporary folder");
    }
    this->Name = name;
    ::setenv("XDG_CACHE_HOME", name.c_str(), 1);  // not the user's cache
    fs::create_directories(name + "/samrai");
    fs::create_directories(name + "/grads");
    MakeSamrai(name + "/samrai");
    MakePlotfile(name + "/plt00012");
    MakeKwave(name + "/kwave.h5");
    MakeTypes(name + "/types.h5", H5F_LIBVER_EARLIEST);  // not the default of HDF5 2
    MakeNewTypes(name + "/new_types.h5");
    MakeNewChunks(name + "/new_chunks.h5");
    testing::WriteText(name + "/grads/a.ctl", GradsText);
    testing::WriteText(name + "/grads/a.bin", std::string(2 * 3 * 6 * 4, '\1'));
    MakeContainer(name + "/a.pio");
  }
  ~Folder()
  {
    std::error_code ignored;
    fs::remove_all(this->Name, ignored);
  }
  std::string Name;
};

}  // namespace

const std::string& SoundFolder()
{
  static const Folder folder;
  return folder.Name;
}

}  // namespace patchio::fuzz
