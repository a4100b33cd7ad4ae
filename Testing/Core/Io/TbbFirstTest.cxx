// A program that uses TBB before it loads PatchIO: patchio_tbb_first_test MODULE
//
// TBB fixes its greatest number of threads at its first use, here to the number that this program needs. The
// module, like a plugin, must still be able to read.
#include <dlfcn.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <cstdio>

int main(int argc, char** argv)
{
  std::atomic<int> sum{0};
  tbb::parallel_for(0, 1000, [&](int i) { sum += i; });
  void* const module = argc > 1 ? ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  using Check = const char* (*)();
  const auto check = module ? reinterpret_cast<Check>(::dlsym(module, "patchio_read_after_others")) : nullptr;
  if (!check) {
    std::printf("FAILED: %s\n", ::dlerror());
    return 1;
  }
  const char* const fault = check();
  std::printf(fault ? "FAILED: %s\n" : "reads although others were first%s\n", fault ? fault : "");
  return fault ? 1 : 0;
}
