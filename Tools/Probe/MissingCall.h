// Functions that an MPI library declares and does not have: some call address 0 for them.
#pragma once

#include <functional>

namespace patchio::probe {

/// Runs `call`, a call of a C library that leaves no C++ objects behind. False where that jumps to address 0;
/// it is left there then. Other faults have their usual effect. One thread at a time; not for many calls, as
/// it asks the system each time.
bool CallIfThere(const std::function<void()>& call);

}  // namespace patchio::probe
