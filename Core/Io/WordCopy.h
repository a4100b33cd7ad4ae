// Copies of words between arbitrary addresses, with or without reversing their bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Vector instructions are written by hand where compilers do not vectorize the loop, or only at some levels
// of optimization.
#if defined(__x86_64__) && defined(__GNUC__)
#define PATCHIO_X86
#include <immintrin.h>
#endif

namespace patchio {

template <typename Word>
Word Swapped(Word word)
{
  if constexpr (sizeof(Word) == 8) {
    return __builtin_bswap64(word);
  } else if constexpr (sizeof(Word) == 4) {
    return __builtin_bswap32(word);
  } else if constexpr (sizeof(Word) == 2) {
    return __builtin_bswap16(word);
  } else {
    return word;
  }
}

#ifdef PATCHIO_X86

inline const bool HasAvx2 = __builtin_cpu_supports("avx2");

/// Returns the control mask with which _mm256_shuffle_epi8 reverses the bytes of each word.
template <typename Word>
__attribute__((target("avx2"))) __m256i SwapOrder()
{
  if (sizeof(Word) == 2) {
    return _mm256_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14,  //
        1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  }
  return sizeof(Word) == 4 ? _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12,  //
                                 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
                           : _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,  //
                                 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
}

/// Copies the words that fill complete vectors, with reversed bytes. Returns the number of these words.
/// `from` may equal `to`.
template <typename Word>
__attribute__((target("avx2"))) std::int64_t SwapVectors(
    const std::byte* from, std::int64_t count, std::byte* to)
{
  constexpr std::int64_t perVector = sizeof(__m256i) / sizeof(Word);
  const __m256i order = SwapOrder<Word>();
  std::int64_t done = 0;
  for (; done + perVector <= count; done += perVector) {
    const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + done * sizeof(Word)));
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to + done * sizeof(Word)), _mm256_shuffle_epi8(words, order));
  }
  return done;
}

/// Copies words, with reversed bytes if `Swap`, to complete cache lines with writes that bypass the cache.
/// Returns the number of words copied. `to` must begin a cache line. The processor then does not fetch the
/// lines before it overwrites them, which saves one third of the memory traffic.
template <typename Word, bool Swap>
__attribute__((target("avx2"))) std::int64_t StreamLines(
    const std::byte* from, std::int64_t count, std::byte* to)
{
  constexpr std::int64_t perVector = sizeof(__m256i) / sizeof(Word);
  const __m256i order = SwapOrder<Word>();
  std::int64_t done = 0;
  for (; done + 2 * perVector <= count; done += 2 * perVector) {
    for (int half = 0; half < 2; ++half) {
      const std::int64_t at = (done + half * perVector) * static_cast<std::int64_t>(sizeof(Word));
      __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at));
      words = Swap ? _mm256_shuffle_epi8(words, order) : words;
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at), words);
    }
  }
  return done;
}

inline void FinishStreaming()
{
  _mm_sfence();
}

#else

inline constexpr bool HasAvx2 = false;

template <typename Word, bool Swap>
std::int64_t StreamLines(const std::byte*, std::int64_t, std::byte*)
{
  return 0;
}

inline void FinishStreaming() {}

template <typename Word>
std::int64_t SwapVectors(const std::byte*, std::int64_t, std::byte*)
{
  return 0;
}

#endif

/// Copies words between unaligned addresses. The copies are `stride` words apart.
template <typename Word, bool Swap>
void CopyStrided(const std::byte* from, std::int64_t count, std::byte* to, std::int64_t stride)
{
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, from + i * sizeof(Word), sizeof(Word));
    word = Swap ? Swapped(word) : word;
    std::memcpy(to + i * stride * sizeof(Word), &word, sizeof(Word));
  }
}

/// Copies contiguous words; `from` may equal `to`.
template <typename Word, bool Swap>
void CopyContiguous(const std::byte* from, std::int64_t count, std::byte* to)
{
  if constexpr (Swap && sizeof(Word) > 1) {
    const std::int64_t done = HasAvx2 ? SwapVectors<Word>(from, count, to) : 0;
    CopyStrided<Word, true>(from + done * sizeof(Word), count - done, to + done * sizeof(Word), 1);
  } else if (from != to) {
    std::memcpy(to, from, count * sizeof(Word));
  }
}

/// Copies contiguous words to an output that is larger than the caches. `to` must be a multiple of the size
/// of a word.
template <typename Word, bool Swap>
void CopyStreaming(const std::byte* from, std::int64_t count, std::byte* to)
{
  constexpr std::uintptr_t line = 64;
  const std::uintptr_t inLine = reinterpret_cast<std::uintptr_t>(to) % line;
  const auto lead = static_cast<std::int64_t>(inLine == 0 ? 0 : (line - inLine) / sizeof(Word));
  const std::int64_t head = std::min(count, lead);
  CopyContiguous<Word, Swap>(from, head, to);
  from += head * sizeof(Word);
  to += head * sizeof(Word);
  const std::int64_t done = StreamLines<Word, Swap>(from, count - head, to);
  CopyContiguous<Word, Swap>(from + done * sizeof(Word), count - head - done, to + done * sizeof(Word));
}

}  // namespace patchio
