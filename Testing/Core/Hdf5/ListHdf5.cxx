// Prints the locations of data sets of an HDF5 file according to PatchIO, for hdf5_files.py.
//
// usage: patchio_list_hdf5 FILE < PATHS    a path a line, without a slash in front
//
// Prints "dataset PATH chunked|plain BIG_ENDIAN BYTES VALUES OFFSET", followed by "chunk NUMBER OFFSET BYTES
// SKIPPED" for each written chunk; "missing PATH"; or "unread PATH: WHY". "file: WHY" if the file cannot be
// read.
#include "Base/File.h"
#include "Hdf5/Structure.h"

#include <iostream>
#include <optional>
#include <string>
#include <vector>

using patchio::hdf5::Structure;

namespace {

void Print(Structure& reader, const std::string& path)
{
  const std::optional<std::uint64_t> header = reader.FindPath(reader.OpenGroup(reader.Root()), path);
  if (!header) {
    std::cout << "missing " << path << "\n";
    return;
  }
  const patchio::hdf5::Dataset found = reader.Describe(*header);
  if (!found.Reason.empty()) {
    throw patchio::Error(found.Reason);
  }
  const bool chunked = found.Layout == patchio::hdf5::StorageLayout::Chunked;
  std::vector<patchio::Chunk> chunks(chunked ? CountChunks(found) : 0);
  if (chunked) {
    reader.ListChunks(found, chunks.data());
  }
  std::cout << "dataset " << path << (chunked ? " chunked " : " plain ") << found.BigEndian << " "
            << found.ElementBytes << " " << found.Values << " " << found.Offset << "\n";
  for (const patchio::Chunk& chunk : chunks) {
    if (chunk.Bytes > 0) {
      std::cout << "chunk " << chunk.Number << " " << chunk.Offset << " " << chunk.Bytes << " "
                << chunk.SkippedFilters << "\n";
    }
  }
}

}  // namespace

int main(int argc, char** argv)
{
  if (argc != 2) {
    return 2;
  }
  Structure reader;
  std::optional<patchio::PlainFile> file;
  try {
    file.emplace(argv[1]);
    reader.Open([&](std::uint64_t offset, void* into, std::size_t bytes) { file->Read(offset, into, bytes); },
        file->Size());
  } catch (const std::exception& error) {
    std::cout << "file: " << error.what() << "\n";
    return 0;
  }
  for (std::string path; std::getline(std::cin, path);) {
    try {
      Print(reader, path);
    } catch (const std::exception& error) {
      std::cout << "unread " << path << ": " << error.what() << "\n";
    }
  }
  return 0;
}
