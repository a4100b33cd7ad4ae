// Prints where the index reader finds data sets of an HDF5 file, for hdf5_files.py.
//
// usage: patchio_list_hdf5 FILE < PATHS    a path a line, without a slash in front
//
// Prints "dataset PATH chunked|plain BIG_ENDIAN BYTES VALUES OFFSET", followed by "chunk NUMBER OFFSET BYTES
// SKIPPED" for each written chunk; "missing PATH"; or "unfamiliar PATH: WHY". "file: WHY": the whole file is
// unfamiliar.
#include "Hdf5Index/IndexReader.h"
#include "Io/FileSource.h"

#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using patchio::hdf5index::IndexReader;

namespace {

std::optional<std::uint64_t> FindPath(IndexReader& reader, const std::string& path)
{
  std::optional<std::uint64_t> header = reader.Root();
  std::stringstream names(path);
  for (std::string name; header && std::getline(names, name, '/');) {
    header = reader.Find(reader.OpenGroup(*header), name);
  }
  return header;
}

void Print(IndexReader& reader, const std::string& path)
{
  const std::optional<std::uint64_t> header = FindPath(reader, path);
  if (!header) {
    std::cout << "missing " << path << "\n";
    return;
  }
  const patchio::hdf5index::Dataset found = reader.Describe(*header);
  const bool chunked = found.Layout == patchio::hdf5index::StorageLayout::Chunked;
  std::vector<patchio::Chunk> chunks(chunked ? ChunksOf(found) : 0);
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
  IndexReader reader;
  try {
    reader.Open(patchio::MakeFileSource({argv[1]})->Open(0), std::filesystem::file_size(argv[1]));
  } catch (const std::exception& error) {
    std::cout << "file: " << error.what() << "\n";
    return 0;
  }
  for (std::string path; std::getline(std::cin, path);) {
    try {
      Print(reader, path);
    } catch (const std::exception& error) {
      std::cout << "unfamiliar " << path << ": " << error.what() << "\n";
    }
  }
  return 0;
}
