#include "Probe/Interrupt.h"

#include <signal.h>
#include <unistd.h>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>

namespace patchio::probe {
namespace {

constexpr int Signals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int MostFiles = 64;

// A signal handler may only use objects of the following types.
std::atomic<bool> SignalReceived{false};
std::atomic<bool> RemovalDelayed{false};  ///< true while a RemovalDelay exists
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
char Files[MostFiles][PATH_MAX];
std::atomic<int> FileCount{0};
int InterruptCount = 0;  ///< number of Interrupt objects
struct sigaction PreviousActions[std::size(Signals)];

void RemoveFiles()
{
  for (int i = FileCount; i-- > 0;) {
    if (::unlink(Files[i]) != 0) {
      ::rmdir(Files[i]);
    }
  }
  // The next signal may end the program only now, because the signal may arrive on another thread while this
  // thread removes files.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (const int number : Signals) {
    ::sigaction(number, &action, nullptr);
  }
}

void HandleSignal(int)
{
  const int error = errno;
  const bool again = SignalReceived.exchange(true);
  if (!RemovalDelayed || again) {
    RemoveFiles();
  }
  errno = error;
}

}  // namespace

Interrupt::Interrupt()
{
  if (InterruptCount++ > 0) {
    return;
  }
  SignalReceived = false;
  struct sigaction action = {};
  action.sa_handler = HandleSignal;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < std::size(Signals); ++i) {
    ::sigaction(Signals[i], &action, &PreviousActions[i]);
  }
}

Interrupt::~Interrupt()
{
  if (--InterruptCount > 0) {
    return;
  }
  for (std::size_t i = 0; i < std::size(Signals); ++i) {
    ::sigaction(Signals[i], &PreviousActions[i], nullptr);
  }
}

const std::atomic<bool>& Interrupt::Flag()
{
  return SignalReceived;
}

void Interrupt::RemoveAtSignal(const std::string& file)
{
  const int count = FileCount;
  if (count < MostFiles && file.size() < PATH_MAX) {
    std::memcpy(Files[count], file.c_str(), file.size() + 1);
    FileCount = count + 1;
  }
}

void Interrupt::ForgetFiles()
{
  FileCount = 0;
}

RemovalDelay::RemovalDelay()
{
  assert(!RemovalDelayed);
  RemovalDelayed = true;
}

RemovalDelay::~RemovalDelay()
{
  RemovalDelayed = false;
  if (InterruptCount > 0 && SignalReceived) {
    RemoveFiles();
  }
}

}  // namespace patchio::probe
