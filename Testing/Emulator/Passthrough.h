// The file system that libfuse serves: a folder as it is, with the emulated storage in front.
#pragma once

// Before every include of fuse.h: the interface of libfuse 3.12, the first with a limit on threads.
#define FUSE_USE_VERSION 312

#include "Emulator.h"

#include <fuse3/fuse.h>

namespace patchio::emulator {

/// The virtual file in the root of the mount: reading it gives Emulator::Report, each line written is a
/// command.
constexpr const char* ControlFile = "/.emulator";

/// What the operations work on; given to fuse_new as its user data.
struct Passthrough
{
  Emulator& Storage;
  int Source;        ///< descriptor of the folder that is shown
  int MostRequests;  ///< requests that the kernel may queue by itself, e.g. when it reads ahead
  void (*Served)();  ///< called once when the kernel has begun to send requests
};

/// Requests of the client are at most this long: what the kernel sends in one piece without being
/// reconfigured.
constexpr unsigned LongestRequest = 1 << 20;

fuse_operations PassthroughOperations();

}  // namespace patchio::emulator
