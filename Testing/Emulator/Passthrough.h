// The file system that libfuse serves: a folder, with the delays and faults of the emulated storage.
#pragma once

// Selects the interface of libfuse 3.12, the first with a limit on threads. Must precede each include of
// fuse.h.
#define FUSE_USE_VERSION 312

#include "Emulator.h"

#include <fuse3/fuse.h>

namespace patchio::emulator {

/// The virtual file in the root of the mount. Reading it returns Emulator::Report(); each line written to it
/// is a command.
constexpr const char* ControlFile = "/.emulator";

/// The state of the file operations; the user data of fuse_new.
struct Passthrough
{
  Emulator& Storage;
  int Source;        ///< descriptor of the folder that is shown
  void (*Served)();  ///< called once, when the kernel begins to send requests
};

/// Greatest length of a request in bytes, which the kernel sends in one piece with its default settings.
constexpr unsigned LongestRequest = 1 << 20;

/// Greatest number of requests that are taken at once, including those that the kernel makes by itself, for
/// example to read ahead.
constexpr int MostRequests = 256;

fuse_operations PassthroughOperations();

}  // namespace patchio::emulator
