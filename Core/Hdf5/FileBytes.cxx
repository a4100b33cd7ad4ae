#include "Hdf5/FileBytes.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace patchio::hdf5 {
namespace {

struct State
{
  std::uint32_t A, B, C;
};

std::uint32_t Rotated(std::uint32_t word, int bits)
{
  return word << bits | word >> (32 - bits);
}

/// One of the six steps of the mixing: a -= c, a ^= c rotated, c += b.
void Step(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, int bits)
{
  a = (a - c) ^ Rotated(c, bits);
  c += b;
}

void Mix(State& s)
{
  Step(s.A, s.B, s.C, 4);
  Step(s.B, s.C, s.A, 6);
  Step(s.C, s.A, s.B, 8);
  Step(s.A, s.B, s.C, 16);
  Step(s.B, s.C, s.A, 19);
  Step(s.C, s.A, s.B, 4);
}

void Finish(State& s)
{
  s.C = (s.C ^ s.B) - Rotated(s.B, 14);
  s.A = (s.A ^ s.C) - Rotated(s.C, 11);
  s.B = (s.B ^ s.A) - Rotated(s.A, 25);
  s.C = (s.C ^ s.B) - Rotated(s.B, 16);
  s.A = (s.A ^ s.C) - Rotated(s.C, 4);
  s.B = (s.B ^ s.A) - Rotated(s.A, 14);
  s.C = (s.C ^ s.B) - Rotated(s.B, 24);
}

void Add(State& s, const std::byte* bytes)
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
    Add(state, bytes);
    Mix(state);
  }
  if (count > 0) {
    std::byte last[block] = {};
    std::memcpy(last, bytes, count);
    Add(state, last);
    Finish(state);
  }
  return state.C;
}

namespace {

bool ComparesByDefault()
{
  const char* const setting = std::getenv("PATCHIO_HDF5_CHECKSUMS");
  return !setting || std::string_view(setting) != "ignore";
}

}  // namespace

FileBytes::FileBytes() : Compares(ComparesByDefault()), Windows(WindowCount, NoWindow) {}

void FileBytes::Attach(ReadAt read, std::uint64_t bytes)
{
  this->File = std::move(read);
  this->Bytes = bytes;
  this->Base = 0;
  this->Whole = bytes <= WholeFile;
  const std::size_t room = this->Whole ? static_cast<std::size_t>(bytes) : WindowBytes * WindowCount;
  if (this->Room < room) {
    this->Room = 0;
    this->Buffer.reset(new std::byte[room]);  // uninitialized
    this->Room = room;
  }
  std::fill(this->Windows.begin(), this->Windows.end(), NoWindow);
  if (this->Whole && bytes > 0) {
    this->File(0, this->Buffer.get(), bytes);
  }
}

void FileBytes::Read(std::uint64_t address, std::byte* into, std::size_t bytes)
{
  const std::uint64_t end = this->EndAddress();
  if (address > end || bytes > end - address) {
    throw Corrupt("an address outside the file");
  }
  if (bytes == 0) {
    return;  // `into` may be null
  }
  std::uint64_t offset = this->Base + address;
  if (this->Whole) {
    std::memcpy(into, this->Buffer.get() + offset, bytes);
    return;
  }
  if (bytes >= LargePiece) {
    return this->File(offset, into, bytes);
  }
  while (bytes > 0) {
    const std::size_t inside = offset % WindowBytes;
    const std::size_t part = std::min(bytes, WindowBytes - inside);
    std::memcpy(into, this->Window(offset / WindowBytes) + inside, part);
    into += part;
    offset += part;
    bytes -= part;
  }
}

void FileBytes::ReadChecked(std::uint64_t address, std::byte* into, std::size_t bytes)
{
  if (bytes < ChecksumBytes) {
    throw Corrupt("a structure without a checksum");
  }
  this->Read(address, into, bytes);
  const std::size_t checked = bytes - ChecksumBytes;
  if (this->Compares && Lookup3(into, checked) != Load<std::uint32_t>(into + checked)) {
    throw Corrupt("a structure with a wrong checksum");
  }
}

const std::byte* FileBytes::Window(std::uint64_t number)
{
  const std::size_t place = number % WindowCount;
  std::byte* window = this->Buffer.get() + place * WindowBytes;
  if (this->Windows[place] != number) {
    const std::uint64_t begin = number * WindowBytes;
    this->Windows[place] = NoWindow;  // in case the storage fails
    this->File(begin, window, std::min<std::uint64_t>(WindowBytes, this->Bytes - begin));
    this->Windows[place] = number;
  }
  return window;
}

}  // namespace patchio::hdf5
