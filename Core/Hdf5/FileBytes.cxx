#include "Hdf5/FileBytes.h"

#include "Base/Text.h"

#include <algorithm>
#include <utility>

namespace patchio::hdf5 {
namespace {

/// The three words of the state of lookup3.
struct State
{
  std::uint32_t A, B, C;
};

std::uint32_t Rotated(std::uint32_t word, int bits)
{
  return word << bits | word >> (32 - bits);
}

/// Performs one of the six steps of Mix(): a -= c, a ^= c rotated by `bits`, c += b.
void MixStep(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, int bits)
{
  a = (a - c) ^ Rotated(c, bits);
  c += b;
}

void Mix(State& s)
{
  MixStep(s.A, s.B, s.C, 4);
  MixStep(s.B, s.C, s.A, 6);
  MixStep(s.C, s.A, s.B, 8);
  MixStep(s.A, s.B, s.C, 16);
  MixStep(s.B, s.C, s.A, 19);
  MixStep(s.C, s.A, s.B, 4);
}

void FinalMix(State& s)
{
  s.C = (s.C ^ s.B) - Rotated(s.B, 14);
  s.A = (s.A ^ s.C) - Rotated(s.C, 11);
  s.B = (s.B ^ s.A) - Rotated(s.A, 25);
  s.C = (s.C ^ s.B) - Rotated(s.B, 16);
  s.A = (s.A ^ s.C) - Rotated(s.C, 4);
  s.B = (s.B ^ s.A) - Rotated(s.A, 14);
  s.C = (s.C ^ s.B) - Rotated(s.B, 24);
}

void AddBlock(State& s, const std::byte* bytes)
{
  s.A += Load<std::uint32_t>(bytes);
  s.B += Load<std::uint32_t>(bytes + 4);
  s.C += Load<std::uint32_t>(bytes + 8);
}

}  // namespace

std::uint32_t Lookup3(const std::byte* bytes, std::size_t count)
{
  constexpr std::size_t block = 12;
  const std::uint32_t begin = 0xdeadbeefu + static_cast<std::uint32_t>(count);
  State state{begin, begin, begin};
  for (; count > block; bytes += block, count -= block) {
    AddBlock(state, bytes);
    Mix(state);
  }
  if (count > 0) {
    std::byte last[block] = {};
    std::memcpy(last, bytes, count);
    AddBlock(state, last);
    FinalMix(state);
  }
  return state.C;
}

FileBytes::FileBytes()
    : Compares(FromEnvironment("PATCHIO_HDF5_CHECKSUMS") != "ignore"), Blocks(BlockCount, NoBlock)
{
}

void FileBytes::Attach(ReadAt read, std::uint64_t bytes)
{
  this->ReadFile = std::move(read);
  this->Bytes = bytes;
  this->Base = 0;
  this->Whole = bytes <= WholeFile;
  const std::size_t bufferBytes = this->Whole ? static_cast<std::size_t>(bytes) : BlockBytes * BlockCount;
  if (this->BufferBytes < bufferBytes) {
    this->BufferBytes = 0;
    this->Buffer.reset(new std::byte[bufferBytes]);  // uninitialized
    this->BufferBytes = bufferBytes;
  }
  std::fill(this->Blocks.begin(), this->Blocks.end(), NoBlock);
  if (this->Whole && bytes > 0) {
    this->ReadFile(0, this->Buffer.get(), bytes);
  }
}

void FileBytes::Read(std::uint64_t address, std::byte* into, std::size_t bytes)
{
  const std::uint64_t end = this->EndAddress();
  Require(address <= end && bytes <= end - address, "an address outside the file");
  if (bytes == 0) {
    return;  // `into` may be null
  }
  std::uint64_t offset = this->Base + address;
  if (this->Whole) {
    std::memcpy(into, this->Buffer.get() + offset, bytes);
    return;
  }
  if (bytes >= LargeRead) {
    return this->ReadFile(offset, into, bytes);
  }
  while (bytes > 0) {
    const std::size_t inside = offset % BlockBytes;
    const std::size_t part = std::min(bytes, BlockBytes - inside);
    std::memcpy(into, this->Block(offset / BlockBytes) + inside, part);
    into += part;
    offset += part;
    bytes -= part;
  }
}

void FileBytes::ReadChecked(std::uint64_t address, std::byte* into, std::size_t bytes)
{
  Require(bytes >= ChecksumBytes, "a structure without a checksum");
  this->Read(address, into, bytes);
  const std::size_t checked = bytes - ChecksumBytes;
  Require(!this->Compares || Lookup3(into, checked) == Load<std::uint32_t>(into + checked),
      "a structure with a wrong checksum");
}

const std::byte* FileBytes::Block(std::uint64_t number)
{
  const std::size_t slot = number % BlockCount;
  std::byte* block = this->Buffer.get() + slot * BlockBytes;
  if (this->Blocks[slot] != number) {
    const std::uint64_t begin = number * BlockBytes;
    this->Blocks[slot] = NoBlock;  // in case the storage fails
    this->ReadFile(begin, block, std::min<std::uint64_t>(BlockBytes, this->Bytes - begin));
    this->Blocks[slot] = number;
  }
  return block;
}

}  // namespace patchio::hdf5
