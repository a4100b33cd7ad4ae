// Output of a simulation: its declarations, and the path of each step to its targets. Implements the I/O
// ranks and channels of B. Yang et al., "Input/Output analysis and optimization for GRAPES regional model"
// (2022), and the gathering of the study of k-Wave's output.
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

/// The output of a simulation. All compute ranks call the collective methods, in the same order. The
/// collective methods throw Error. Only these methods call MPI, on the calling thread. Waits for other ranks
/// have a limit; see BoundedCommunicator.
class Output
{
public:
  /// Opens the output. Throws Error on all ranks if their configurations differ. Collective: every rank of
  /// `comm` calls it.
  Output(const OutputConfig& config, MPI_Comm comm);
  /// Waits for the write in progress. Later steps are lost, unless Flush() was called. With Mode::Ranks,
  /// collective: every rank of the communicator calls it.
  ~Output();

  /// Separates compute ranks and I/O ranks. With Mode::Ranks, the result on a compute rank is the
  /// communicator of the compute ranks. On an I/O rank, this method writes steps until the compute ranks have
  /// called Close(), and then returns MPI_COMM_NULL. In other modes, all ranks compute. Collective: every
  /// rank calls it, before the methods below.
  MPI_Comm Compute();

  /// Runs a declaration call of the simulation. After a failure, Write() throws, because arrays might be
  /// assigned to the wrong patches or variables. `replaces`: true if the call replaces the declarations of an
  /// earlier call of the same name, so that Write() works again after its success.
  void Declare(const std::string& call, bool replaces, const std::function<void()>& work);
  void SetGrid(int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios);
  /// Calls Declaration::SetPatches(). `fault`: reason why this rank has no patches, which all ranks throw;
  /// empty: none. Collective: every compute rank calls it.
  void SetPatches(const std::vector<DeclaredPatch>& patches, const std::string& fault = {});
  void AddVariable(const DeclaredVariable& variable);

  /// Returns whether a channel writes the step.
  bool Wants(std::int64_t step) const;
  /// Writes a step. `values`: arrays of each variable on each of this rank's patches, variable by variable;
  /// null if the patch lacks the variable. The arrays may change as soon as this method has returned. If no
  /// channel writes the step, the method returns at once. Collective: every compute rank calls it.
  ///
  /// Throws the faults of earlier steps that were not thrown yet; writes this step nevertheless.
  void Write(std::int64_t step, double time, const void* const* values);
  /// Returns when all steps are on the storage. Throws like Write(). Collective: every compute rank calls it.
  void Flush();
  /// Calls Flush() and ends the I/O ranks. `call`: name of the call for messages. If ranks have given up
  /// waiting for each other, each rank still waits up to `wait seconds` of the configuration for its pending
  /// steps. Collective: every compute rank calls it.
  void Close(const std::string& call = "patchio_close");

  /// Returns the largest number of bytes that pending steps took on this rank at any time, including room
  /// that an I/O rank has promised.
  std::uint64_t PeakMemory() const;

private:
  struct Step;

  void CheckIsComputeRank() const;
  void CheckPlaces() const;
  void FinishSteps(const std::string& call, bool closes);
  Declaration& Change();
  std::shared_ptr<Step> MakeStep(std::int64_t number, double time, const void* const* values) const;
  void TakeArrays(Step& step, const void* const* values) const;
  void CheckRoom(const Step& step, std::uint64_t bytes) const;
  void WriteStep(const std::shared_ptr<Step>& step);
  void SendStep(Step& step);
  void WriteReceived(const std::shared_ptr<ReceivedStep>& received);
  std::string TakeFaults();
  std::vector<std::string> Agree(const Step& step);
  std::vector<std::string> Compare(const Step& step, std::int64_t& number) const;
  void Lose(std::int64_t step);
  std::vector<StepPart> Prepare(const std::shared_ptr<Step>& step, const std::vector<std::string>& lists,
      const std::vector<int>& map = {});
  void PreparePart(const Step& step, Catalog data, StepPart& part);

  const OutputConfig Config;
  const MPI_Comm Given;
  std::unique_ptr<IoRoles> Roles;              ///< with Mode::Ranks only
  std::unique_ptr<BoundedCommunicator> Ranks;  ///< all ranks; with Roles: those with this rank's role
  std::unique_ptr<StepSender> Sender;          ///< on a compute rank
  std::unique_ptr<StepReceiver> Receiver;      ///< on an I/O rank
  std::shared_ptr<const Declaration> Declared = std::make_shared<Declaration>();
  std::map<std::string, std::string> FailedCalls;  ///< messages, by the names that were passed to Declare()
  std::unique_ptr<ChannelOutput> Writer;
};

}  // namespace patchio::output
