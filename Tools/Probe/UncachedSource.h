// Files read past this machine's cache, as only the storage is to be measured.
#pragma once

#include "Io/Source.h"
#include "Probe/ProbeFiles.h"

#include <memory>

namespace patchio::probe {

/// How the bytes get past this machine's cache.
enum class CacheBypass
{
  Direct,  ///< O_DIRECT: offsets, lengths and memory are multiples of 4 KiB
  Drop     ///< the kernel is asked to forget what was read
};

/// Direct where the files can be read so.
CacheBypass BypassFor(const ProbeFiles& files);

/// Asks the kernel to forget what it holds of the files.
void DropCaches(const ProbeFiles& files);

/// All files, open as long as it lives. Throws Error.
std::unique_ptr<Source> MakeUncachedSource(const ProbeFiles& files, CacheBypass bypass);

/// Bytes a second of reading the same few bytes again: what this machine's cache gives, if the file system
/// has one. 0 where it cannot be found out.
double RereadRate(const ProbeFiles& files);

}  // namespace patchio::probe
