// The output of a simulation: the declarations, and the transfer of each step to the targets. Implements the
// I/O ranks and channels of B. Yang et al., "Input/Output analysis and optimization for GRAPES regional
// model" (2022), and the gathering of steps, see Aggregation.h.
#pragma once

#include "Write/BoundedCommunicator.h"
#include "Write/ChannelOutput.h"
#include "Write/Declaration.h"
#include "Write/IoRoles.h"
#include "Write/OutputConfig.h"
#include "Write/StepTransfer.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// The output of a simulation. All compute ranks call the collective methods, in the same order. Methods
/// throw Error. Only the collective methods call MPI, on the calling thread. Waits for other ranks have a
/// time limit; see BoundedCommunicator.
class Output
{
public:
  /// Opens the output. Throws Error on all ranks if the configurations of the ranks differ, or if the ranks
  /// are too few or cannot reach each other, and on one rank alone if a channel's path is not writable.
  /// Collective: every rank of `comm` calls it.
  Output(const OutputConfig& config, MPI_Comm comm);
  /// Waits for the write in progress. With Mode::Thread, pending steps after that write are lost, unless
  /// Flush() has returned. With Mode::Ranks, ends the I/O ranks unless Close() has ended them; collective:
  /// every rank of the communicator calls it.
  ~Output();

  /// Separates compute ranks and I/O ranks. With Mode::Ranks, returns the communicator of the compute ranks
  /// on compute ranks. On I/O ranks, writes steps until the compute ranks have called Close(), and then
  /// returns MPI_COMM_NULL. In other modes, returns the communicator of the constructor. If the mode may be
  /// Mode::Ranks, call this method before the methods below. Collective: every rank of the communicator calls
  /// it.
  MPI_Comm SeparateRanks();

  /// Runs `work`, a declaration of the simulation. If `work` fails, throws Error, and Write() throws Error,
  /// too, because arrays might be assigned to the wrong patches or variables. `call`: name of the C function.
  /// `replaces`: true if a successful call replaces the declarations of a failed call with the same name, so
  /// that Write() works again.
  void Declare(const std::string& call, bool replaces, const std::function<void()>& work);
  void SetGrid(int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios);
  /// Calls Declaration::SetPatches(). `fault`: reason why this rank's patches are invalid; all ranks then
  /// throw Error with the reason. Empty: no fault. Collective: every compute rank calls it.
  void SetPatches(const std::vector<DeclaredPatch>& patches, const std::string& fault = {});
  void AddVariable(const DeclaredVariable& variable);

  /// Writes a step. `step`: 0 or more. `time`: finite. `values`: the arrays of each variable on each of this
  /// rank's patches, variable by variable; an array is null if the patch lacks the variable. The arrays may
  /// change as soon as this method has returned. Does not wait if no channel writes the step. Collective:
  /// every compute rank calls it.
  ///
  /// Also throws Error for faults of earlier steps that were not thrown yet; this step is then written
  /// nevertheless.
  void Write(std::int64_t step, double time, const void* const* values);
  /// Returns when all steps are on the storage. Throws Error for faults that were not thrown yet, and after
  /// the time limit. Collective: every compute rank calls it.
  void Flush();
  /// Writes all steps like Flush(), and ends the I/O ranks. `call`: name of the C function for messages. If
  /// ranks have given up waiting for each other, each rank still waits for its pending steps, for
  /// OutputConfig::WaitSeconds at most. Collective: every rank of the communicator calls it.
  void Close(const std::string& call = "patchio_close");

  /// Returns the largest number of bytes that pending steps have taken on this rank at any time. On an I/O
  /// rank, the number includes the room that the rank has promised to compute ranks.
  std::uint64_t PeakMemory() const;

private:
  struct Step;

  void CheckIsComputeRank() const;
  void CheckChannelPaths() const;
  void FinishSteps(const std::string& call, bool closes);
  Declaration& NewDeclaration();
  std::shared_ptr<Step> MakeStep(std::int64_t number, double time, const void* const* values) const;
  void AddArrays(Step& step, const void* const* values) const;
  void CheckMemory(const Step& step, std::uint64_t bytes) const;
  void WriteStep(const std::shared_ptr<Step>& step);
  void SendStep(Step& step);
  void WriteReceived(const std::shared_ptr<ReceivedStep>& received);
  std::string TakeFaults();
  std::vector<std::string> GatherArrayLists(const Step& step);
  void MarkLost(std::int64_t step);
  std::vector<StepPart> Prepare(const std::shared_ptr<Step>& step, const std::vector<std::string>& lists,
      const std::vector<int>& map = {});
  void PreparePart(const Step& step, Catalog data, StepPart& part);

  const OutputConfig Config;
  const MPI_Comm UserComm;
  std::unique_ptr<IoRoles> Roles;              ///< with Mode::Ranks only
  std::unique_ptr<BoundedCommunicator> Ranks;  ///< all ranks; with Roles, the ranks with this rank's role
  std::unique_ptr<StepSender> Sender;          ///< with Mode::Ranks, on a compute rank
  std::unique_ptr<StepReceiver> Receiver;      ///< with Mode::Ranks, on an I/O rank
  std::shared_ptr<const Declaration> Declared = std::make_shared<Declaration>();
  std::map<std::string, std::string> FailedCalls;  ///< messages of failed declarations, by C function
  std::unique_ptr<ChannelOutput> Writer;
};

}  // namespace patchio::output
