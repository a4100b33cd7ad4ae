// Tasks on all threads that can be given up.
#ifndef Filters_RunTasks_h
#define Filters_RunTasks_h

#include <cstddef>
#include <functional>

namespace patchio::filters {

/// Asked on the calling thread, with the share that is done; false: the work is given up.
using GoesOn = std::function<bool(double)>;

/// Calls work(number) for all numbers below count, on all threads. False if it was given up: then some are
/// left out.
bool RunTasks(std::size_t count, const std::function<void(std::size_t)>& work, const GoesOn& goesOn);

}  // namespace patchio::filters

#endif
