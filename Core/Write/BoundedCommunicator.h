// A communicator for the processes of a simulation in which every wait has a limit.
#pragma once

#include "Base/Communicator.h"
#include "Write/IoMessages.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// The processes of an MPI communicator. Each wait polls MPI, and throws Error after a time limit. The Error
/// names the missing ranks and the simulation's call. If ranks are in different calls, all ranks throw Error
/// as soon as one rank receives a message of another call. After an Error, all methods throw the same Error
/// at once, on all ranks.
///
/// After a wait that was given up, MPI may still use the buffers, so this class frees neither the buffers nor
/// the MPI communicator.
class BoundedCommunicator : public Communicator
{
public:
  /// Duplicates `comm`. `waitSeconds`: the user's time limit of a wait. A wait ends a little later, so that a
  /// rank that has waited for the storage up to the limit can still inform the other ranks. `call`: see
  /// Enter(). Throws Error if a rank does not make the call. Collective: every rank of `comm` calls it.
  BoundedCommunicator(MPI_Comm comm, double waitSeconds, const std::string& call);
  ~BoundedCommunicator() override;
  BoundedCommunicator(const BoundedCommunicator&) = delete;
  BoundedCommunicator& operator=(const BoundedCommunicator&) = delete;

  /// Sets the simulation's call to which the next methods belong. `call`: name of the C function, such as
  /// "patchio_write"; ranks with different names are in different calls. `subject`: subject of the call for
  /// messages, such as "step 7". Throws Error after a wait that was given up. Not collective.
  void Enter(const std::string& call, const std::string& subject = {});
  /// Returns when all ranks have entered the same call. Throws Error if a rank is in another call. All other
  /// collective methods call Barrier() first. Collective: every rank of the communicator calls it.
  void Barrier();
  /// Returns whether a wait was given up. All other methods then throw Error.
  bool IsBroken() const { return !this->Fault.empty(); }

  int Rank() const override { return this->RankValue; }
  int Size() const override { return this->SizeValue; }
  void Broadcast(std::vector<std::byte>& bytes) override;
  std::vector<std::string> AllGather(const std::string& text) override;
  std::vector<double> AllGather(const std::vector<double>& values) override
  {
    return GatherValues(*this, values);
  }
  std::vector<int> AllGather(const std::vector<int>& values) override { return GatherValues(*this, values); }
  std::vector<std::string> Gather(const std::string& text) override;
  using Communicator::Exchange;
  void Exchange(std::vector<std::string>& texts, std::vector<std::string>& into) override;
  std::vector<double> Max(const std::vector<double>& values) override;

private:
  template <typename Buffers>
  void Wait(std::vector<MPI_Request>& requests, Buffers& buffers);
  bool TestAll(std::vector<MPI_Request>& requests);
  bool ReceiveNotices();
  void WaitUntil(const std::function<bool()>& done);
  void GiveUp(double waited);
  std::string FaultText() const;
  void ThrowIfBroken() const;

  MPI_Comm Comm = MPI_COMM_NULL;
  int RankValue = 0, SizeValue = 1;
  std::unique_ptr<PendingSends> PendingPositions;
  const double WaitSeconds;
  Position OwnPosition;
  bool BarrierPassed = false;       ///< true: all ranks have entered the present call
  std::map<int, Position> Notices;  ///< by rank: positions of other ranks that have given up
  std::string Fault;                ///< text of the Error that all methods throw; empty: no Error
};

}  // namespace patchio::output
