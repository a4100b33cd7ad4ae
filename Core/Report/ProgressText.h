// How far a read is, in words.
#pragma once

#include <string>

namespace patchio {

/// "Reading 1.2 of 4.8 GB, 850 MB/s, 4 s left". bytes: read so far, of bytesToRead; rate: bytes a second. The
/// time is left out while nothing is known of the rate, and all numbers where bytesToRead is 0: not known
/// yet.
std::string ReadingText(double bytes, double bytesToRead, double rate);

/// "Locating 45 %"; without a number where nothing is known of it, or where what remains has none.
std::string LocatingText(double fraction);

}  // namespace patchio
