// How far a read is, in words.
#pragma once

#include <string>

namespace patchio {

/// "Reading 1.2 of 4.8 GB, 850 MB/s, 4 s left", and "Reading 4.8 of 4.8 GB, decoding" when all bytes have
/// come. bytes: read so far, of bytesToRead; rate: bytes a second. The time is left out while nothing is
/// known of the rate, and all numbers where bytesToRead is 0: not known yet.
std::string ReadingText(double bytes, double bytesToRead, double rate);

/// The fraction, 0 to 1, that a progress bar shows beside ReadingText(). It agrees with the bytes of the
/// text. ofTasks: the fraction of the read tasks that are done, for reads whose bytes are not known.
double ReadingShare(double bytes, double bytesToRead, double ofTasks);

}  // namespace patchio
