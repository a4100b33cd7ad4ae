// The main program for libFuzzer, with its options as arguments. The environment variable PATCHIO_FUZZ_TARGET
// names the target.
#include "SoundFiles.h"
#include "Targets.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {
const patchio::fuzz::Target* target = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/)
{
  const char* const name = std::getenv("PATCHIO_FUZZ_TARGET");
  target = patchio::fuzz::FindTarget(name ? name : "");
  if (!target) {
    std::fprintf(stderr, "PATCHIO_FUZZ_TARGET names no target; patchio_fuzz_replay --list tells them.\n");
    std::exit(2);
  }
  patchio::fuzz::SoundFolder();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
  patchio::fuzz::RunTarget(*target, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}
