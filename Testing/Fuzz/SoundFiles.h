// A small sound data set of each format, of which a target replaces one file.
#pragma once

#include <string>

namespace patchio::fuzz {

/// The folder with all of them, made at the first call in memory (/dev/shm, where there is one) and removed
/// when the program ends:
///   samrai/dumps.visit            a dump of three patches in two cluster files
///   plt00012                      an AMReX plotfile
///   kwave.h5                      domain and a sensor of points, one array in chunks
///   grads/a.ctl, grads/a.bin
///   a.pio                         a container of one step, two levels, one variable compressed
const std::string& SoundFolder();

std::string ReadWhole(const std::string& path);
void WriteWhole(const std::string& path, std::string_view bytes);

/// Descriptor of the GrADS data.
extern const char* const GradsText;

}  // namespace patchio::fuzz
