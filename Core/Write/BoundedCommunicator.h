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

/// The processes of an MPI communicator. Each wait polls MPI and ends with an Error after the limit. The
/// Error names the ranks that are missing, and their call. Ranks in different calls get an Error as soon as
/// their messages meet. After an Error, all methods throw the same Error at once, on all ranks.
///
/// MPI may still use the buffers of a wait that was given up, so this class never frees these buffers and
/// MPI's communicator.
class BoundedCommunicator : public Communicator
{
public:
  /// Duplicates `comm`. `waitSeconds`: the limit in the configuration, in seconds. A wait ends a little
  /// later, so that a rank that has waited for the storage up to the limit can still inform the other ranks.
  /// `call`: see Enter(). Throws Error if a rank does not make the call. Collective: every rank of `comm`
  /// calls it.
  BoundedCommunicator(MPI_Comm comm, double waitSeconds, const std::string& call);
  ~BoundedCommunicator() override;
  BoundedCommunicator(const BoundedCommunicator&) = delete;
  BoundedCommunicator& operator=(const BoundedCommunicator&) = delete;

  /// Sets the simulation's call to which the next methods belong, such as "patchio_write", and its subject,
  /// such as "step 7". Ranks whose `call` differs are in different calls. Throws Error after a wait that was
  /// given up. Not collective.
  void Enter(const std::string& call, const std::string& about = {});
  /// Returns when all ranks have entered the same call. All other collective methods call Synchronize()
  /// first. Collective: every rank of the communicator calls it.
  void Synchronize();
  /// Returns whether a wait was given up. All methods then throw.
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
  std::vector<double> Largest(const std::vector<double>& values) override;

private:
  template <typename Buffers>
  void Wait(std::vector<MPI_Request>& requests, Buffers& buffers);
  bool IsDone(std::vector<MPI_Request>& requests);
  bool HasNotices();
  void WaitFor(const std::function<bool()>& done);
  void GiveUp(double waited);
  std::string Explain() const;
  void Check() const;

  MPI_Comm Comm = MPI_COMM_NULL;
  int RankValue = 0, SizeValue = 1;
  std::unique_ptr<PendingSends> Positions;
  const double WaitSeconds;
  Position Here;
  bool Synchronized = false;       ///< true: all ranks have entered this call
  std::map<int, Position> Others;  ///< by rank: positions of other ranks that have given up
  std::string Fault;               ///< error of all further calls; empty: none
};

}  // namespace patchio::output
