// One rank's way to the file under test, and the time that it spends in the function under test.
#pragma once

#include "Probe/Functions.h"
#include "Probe/Layout.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace patchio::probe {

/// An open file. Faults are texts, empty when all is well: a rank that throws would leave the others waiting
/// in collective functions.
class Access
{
public:
  virtual ~Access() = default;

  /// Collective. Opens for reading and writing.
  virtual std::string Open(const std::string& path) = 0;
  /// Collective.
  virtual std::string SetView() = 0;
  /// Moves, or begins to move, `bytes` at `offset` in the view. `slot` names the call until it is finished;
  /// from 0 on, fewer than `inFlight` that this was made with.
  virtual std::string Begin(std::uint64_t offset, std::byte* buffer, int bytes, int slot) = 0;
  /// Waits for what Begin() has begun; does nothing for blocking functions.
  virtual std::string Finish(int slot) = 0;
  /// Collective. Waits until the storage has what was written.
  virtual std::string Sync() = 0;
  /// Collective.
  virtual std::string Close() = 0;

  /// Seconds in the function under test so far, waiting for its end included.
  double Seconds() const { return this->Spent; }

protected:
  double Spent = 0;
};

/// `function` and `layout` must outlive the result.
std::unique_ptr<Access> MakeAccess(
    const Function& function, const Layout& layout, MPI_Comm comm, int inFlight);

/// What an MPI error code means; empty for MPI_SUCCESS.
std::string MpiMessage(int code);

}  // namespace patchio::probe
