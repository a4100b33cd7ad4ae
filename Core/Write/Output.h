// Output of a simulation: what it declares once, and what becomes of each of its steps. Papers 3 and 5.
#pragma once

#include "Write/BoundedCommunicator.h"
#include "Write/Declaration.h"
#include "Write/IoRoles.h"
#include "Write/OutputConfig.h"
#include "Write/StepReceiver.h"
#include "Write/StepSender.h"
#include "Write/Target.h"
#include "Write/WritingThread.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// All compute ranks call the collective methods, in the same order. These methods throw Error. Only they
/// call MPI, on the calling thread. Their waits for other ranks have a limit: see BoundedCommunicator.
class Output
{
public:
  /// Collective. Throws Error, on all ranks, where their configurations differ.
  Output(const OutputConfig& config, MPI_Comm comm);
  /// Waits for the write at work. Steps that still wait are lost, unless Flush() was called. Collective with
  /// Mode::Ranks.
  ~Output();

  /// Collective over all ranks, before what follows. With Mode::Ranks: returns the communicator of the
  /// compute ranks to them; I/O ranks write until the compute ranks have called Close(), and get
  /// MPI_COMM_NULL. Otherwise all ranks compute.
  MPI_Comm Compute();

  /// Runs a call that declares something. After a failure, steps are refused, because their arrays might be
  /// taken for those of other patches or variables. With `replaces`, the call replaces what an earlier one of
  /// the same name declared, so that steps are taken again after its success.
  void Declare(const std::string& call, bool replaces, const std::function<void()>& work);
  void SetGrid(int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios);
  /// Collective: see Declaration::SetPatches(). fault: why this rank has none, which all ranks throw.
  void SetPatches(const std::vector<DeclaredPatch>& mine, const std::string& fault = {});
  void AddVariable(const DeclaredVariable& variable);

  /// Whether a channel wants the step.
  bool Wants(std::int64_t step) const;
  /// Collective where a channel wants the step, else free of cost. values: of each variable on each of this
  /// rank's patches, variable by variable; null where the patch lacks the variable. They may change as soon
  /// as this has returned.
  ///
  /// Throws what went wrong with earlier steps, unless that was thrown before; this step is taken all the
  /// same.
  void Write(std::int64_t step, double time, const void* const* values);
  /// Collective: returns when all steps are on the storage. Throws like Write().
  void Flush();
  /// Collective: Flush(), and the I/O ranks end. call: for messages. Where ranks have given up waiting for
  /// each other, steps that are on their way get `wait seconds` to be written.
  void Close(const std::string& call = "patchio_close");

  /// The most bytes that steps on their way have taken on this rank, with those that an I/O rank has promised
  /// to take.
  std::uint64_t PeakMemory() const;

private:
  struct Step;
  struct Part;
  /// A channel and what it is written to.
  struct Sink
  {
    const Channel& What;
    std::unique_ptr<Target> To;
    int Threads = 1;
  };

  void CheckThatItComputes() const;
  void CheckPlaces() const;
  void FinishSteps(const std::string& call, bool closes);
  Declaration& Change();
  Communicator& Writers() const { return this->Aside ? *this->Aside : *this->Ranks; }
  /// Those that want the step.
  std::vector<std::size_t> SinksFor(std::int64_t step) const;
  std::shared_ptr<Step> MakeStep(std::int64_t number, double time, const void* const* values) const;
  void TakeArrays(Step& step, const void* const* values) const;
  void CheckRoom(const Step& step, std::uint64_t bytes) const;
  void WriteNow(Step& step);
  void WriteLater(const std::shared_ptr<Step>& step);
  void SendStep(Step& step);
  void WriteReceived(const std::shared_ptr<ReceivedStep>& received);
  std::string TakeFaults();
  std::vector<std::string> Agree(const Step& step);
  std::vector<std::string> Compare(const Step& step, std::int64_t& number) const;
  void Lose(std::int64_t step);
  void Prepare(Step& step, const std::vector<std::string>& told, const std::vector<int>& map = {});
  void PreparePart(const Step& step, Catalog data, Part& part);
  void WriteParts(Step& step);
  void FlushTargets();

  const OutputConfig Config;
  const MPI_Comm Given;
  std::unique_ptr<IoRoles> Roles;              ///< of Mode::Ranks alone
  std::unique_ptr<BoundedCommunicator> Ranks;  ///< the simulation's; with roles: those of this rank's kind
  std::unique_ptr<StepSender> Sender;          ///< of a compute rank
  std::unique_ptr<StepReceiver> Receiver;      ///< of an I/O rank
  std::unique_ptr<Communicator> Aside;  ///< of the threads that write; null: the simulation's thread writes
  std::shared_ptr<const Declaration> Declared = std::make_shared<Declaration>();
  std::map<std::string, std::string> FailedCalls;  ///< messages by the names that Declare() was given
  std::vector<Sink> Sinks;                         ///< one a channel
  WritingThread Writer;
};

}  // namespace patchio::output
