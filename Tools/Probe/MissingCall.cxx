#include "Probe/MissingCall.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

namespace patchio::probe {
namespace {

sigjmp_buf Before;
struct sigaction UsualEffect;

/// Whether it was the jump itself that failed, not something that the library did after it.
bool IsJumpToZero(const siginfo_t* fault, const void* context)
{
#if defined(__x86_64__)
  const auto* registers = static_cast<const ucontext_t*>(context);
  return fault->si_addr == nullptr && registers->uc_mcontext.gregs[REG_RIP] == 0;
#elif defined(__aarch64__)
  const auto* registers = static_cast<const ucontext_t*>(context);
  return fault->si_addr == nullptr && registers->uc_mcontext.pc == 0;
#else
  (void)fault;
  (void)context;
  return false;
#endif
}

void Handle(int, siginfo_t* fault, void* context)
{
  if (IsJumpToZero(fault, context)) {
    siglongjmp(Before, 1);
  }
  // Comes again at once, to whoever was there before.
  ::sigaction(SIGSEGV, &UsualEffect, nullptr);
}

}  // namespace

bool CallIfThere(const std::function<void()>& call)
{
  struct sigaction action = {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, &UsualEffect);
  volatile bool there = true;
  if (sigsetjmp(Before, 1) == 0) {
    call();
  } else {
    there = false;
  }
  ::sigaction(SIGSEGV, &UsualEffect, nullptr);
  return there;
}

}  // namespace patchio::probe
