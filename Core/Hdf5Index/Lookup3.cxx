#include "Hdf5Index/Lookup3.h"

#include "Hdf5Index/Metadata.h"

#include <cstring>

namespace patchio::hdf5index {
namespace {

struct State
{
  std::uint32_t A, B, C;
};

std::uint32_t Rotated(std::uint32_t word, int bits)
{
  return word << bits | word >> (32 - bits);
}

/// a -= c, a ^= c rotated, c += b: one of the six steps of the mixing.
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

}  // namespace patchio::hdf5index
