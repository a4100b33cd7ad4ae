// Tasks on all threads, which the caller can end early.
#ifndef Filters_RunTasks_h
#define Filters_RunTasks_h

#include <cstddef>
#include <functional>

namespace patchio::filters {

/// Receives, on the calling thread, the fraction of the work that is done. Returns false to stop the work.
using GoesOn = std::function<bool(double)>;

/// Calls work(number) for all numbers below `count`, on all threads. Returns false if `goesOn` stopped the
/// work, so that some numbers were left out.
bool RunTasks(std::size_t count, const std::function<void(std::size_t)>& work, const GoesOn& goesOn);

}  // namespace patchio::filters

#endif
