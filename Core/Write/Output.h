// Output of a simulation: its declarations, and the path of each step to its targets. Implements the I/O
// ranks and channels of B. Yang et al., Input/Output analysis and optimization for GRAPES regional model
// (2022), and the gathering of the study of k-Wave's output.
#pragma once

#include "Write/BoundedCommunicator.h"
#include "Write/ChannelOutput.h"
#include "Write/Declaration.h"
#include "Write/IoRoles.h"
#include "Write/OutputConfig.h"
#include "Write/StepReceiver.h"
#include "Write/StepSender.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// The output of a simulation. All compute ranks call the collective methods, in the same order. These
/// methods throw Error. Only they call MPI, on the calling thread. Their waits for other ranks have a limit;
/// see BoundedCommunicator.
class Output
{
public:
  /// Opens the output. Collective: every rank of `comm` calls it. Throws Error, on all ranks, if their
  /// configurations differ.
  Output(const OutputConfig& config, MPI_Comm comm);
  /// Waits for the write in progress. Steps after it are lost, unless Flush() was called. Collective with
  /// Mode::Ranks.
  ~Output();

  /// Separates compute ranks and I/O ranks. Collective: all ranks call it before the methods below. With
  /// Mode::Ranks, compute ranks get their communicator. On I/O ranks, it writes until the compute ranks have
  /// called Close(), and then returns MPI_COMM_NULL. In other modes, all ranks compute.
  MPI_Comm Compute();

  /// Runs a call that declares something. After a failure, steps are refused, because their arrays might be
  /// taken for those of other patches or variables. With `replaces`, the call replaces what an earlier one of
  /// the same name declared, so that steps are taken again after its success.
  void Declare(const std::string& call, bool replaces, const std::function<void()>& work);
  void SetGrid(int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios);
  /// See Declaration::SetPatches(). Collective: every compute rank calls it. `fault`: reason why this rank
  /// has no patches, which all ranks throw; empty: none.
  void SetPatches(const std::vector<DeclaredPatch>& mine, const std::string& fault = {});
  void AddVariable(const DeclaredVariable& variable);

  /// Returns whether a channel writes the step.
  bool Wants(std::int64_t step) const;
  /// Writes a step. Collective if a channel writes the step; otherwise it returns at once. `values`: arrays
  /// of each variable on each of this rank's patches, variable by variable; null if the patch lacks the
  /// variable. The arrays may change as soon as this method has returned.
  ///
  /// Throws the faults of earlier steps that were not thrown yet; this step is written nevertheless.
  void Write(std::int64_t step, double time, const void* const* values);
  /// Returns when all steps are on the storage. Collective: every compute rank calls it. Throws like Write().
  void Flush();
  /// Calls Flush() and ends the I/O ranks. Collective: every compute rank calls it. `call`: name of the call
  /// for messages. If ranks have given up waiting for each other, pending steps get `wait seconds` to be
  /// written.
  void Close(const std::string& call = "patchio_close");

  /// The largest number of bytes that pending steps took on this rank at a time, including room that an I/O
  /// rank has promised.
  std::uint64_t PeakMemory() const;

private:
  struct Step;

  void CheckThatItComputes() const;
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
