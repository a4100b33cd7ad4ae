// A small valid data set of each format. A fuzz target replaces one of its files.
#pragma once

#include <string>

namespace patchio::fuzz {

/// Returns the folder of all data sets. The first call makes it in memory (/dev/shm, if there is one); the
/// end of the program removes it:
///   samrai/dumps.visit            a dump of three patches in two cluster files
///   plt00012                      an AMReX plotfile
///   kwave.h5                      domain and a sensor of points, one array in chunks
///   grads/a.ctl, grads/a.bin
///   a.pio                         a container of one step, two levels, one variable compressed
const std::string& SoundFolder();

/// The descriptor of the GrADS data.
extern const char* const GradsText;

}  // namespace patchio::fuzz
