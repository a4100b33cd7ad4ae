// A communicator with a time limit on every wait, for the processes of a simulation.
#pragma once

#include "Base/Communicator.h"
#include "Write/IoMessages.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// The processes of an MPI communicator. Each wait polls MPI, and is given up after a time limit, after an
/// MPI error, and if ranks are in different calls. All ranks then give up their waits and throw Error, which
/// names the simulation's call and, if known, the ranks at fault. From then on, Enter() and all collective
/// methods throw the same Error at once.
///
/// After a wait that was given up, MPI may still use the buffers, so this class frees neither the buffers nor
/// the MPI communicator.
class BoundedCommunicator : public Communicator
{
public:
  /// Duplicates `comm`. `waitSeconds`: the user's time limit of a wait. The methods wait a little longer, so
  /// that a rank that has waited for the storage up to the limit can still inform the other ranks. `call`:
  /// see Enter(). Throws Error if a rank does not make the call in time. Collective: every rank of `comm`
  /// calls it.
  BoundedCommunicator(MPI_Comm comm, double waitSeconds, const std::string& call);
  ~BoundedCommunicator() override;
  BoundedCommunicator(const BoundedCommunicator&) = delete;
  BoundedCommunicator& operator=(const BoundedCommunicator&) = delete;

  /// Sets the simulation's call to which the next methods belong. `call`: name of the C function, such as
  /// "patchio_write"; ranks with different names are in different calls. `subject`: subject of the call for
  /// messages, such as "step 7". Throws Error after a wait that was given up. Not collective.
  void Enter(const std::string& call, const std::string& subject = {});
  /// Returns when all ranks have entered the same call. Throws Error if a rank is in another call, or does
  /// not enter the call in time. All other collective methods call Barrier() first. Collective: every rank of
  /// the communicator calls it.
  void Barrier();
  /// Returns whether a wait was given up. Enter() and the collective methods then throw Error.
  bool IsBroken() const { return !this->Fault.empty(); }

  int Rank() const override { return this->RankValue; }
  int Size() const override { return this->SizeValue; }
  void Broadcast(std::vector<std::byte>& bytes) override;
  std::vector<std::string> AllGather(const std::string& text) override;
  using Communicator::AllGather;
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
  bool BarrierPassed = false;       ///< true: all ranks have entered the current call
  std::map<int, Position> Notices;  ///< by rank: positions of other ranks that have given up
  std::string Fault;                ///< text of the Error after a wait that was given up; empty: no such wait
};

}  // namespace patchio::output
