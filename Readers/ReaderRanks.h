// The ranks that read together, and what they share of a machine.
#ifndef ReaderRanks_h
#define ReaderRanks_h

#include "Base/Communicator.h"

#include <vtkMultiProcessController.h>
#include <vtkSmartPointer.h>

#include <memory>

namespace patchio {

/// The ranks of a controller; without a controller, this process alone.
class ReaderRanks
{
public:
  void Use(vtkMultiProcessController* controller);
  vtkMultiProcessController* Controller() const { return this->Of; }

  Communicator& operator*() const { return *this->Ranks; }
  bool IsFirst() const { return this->Ranks->Rank() == 0; }

  /// Collective at first, then known: ranks on this machine.
  int OnMachine() { return this->Ranks->OnMachine().Size(); }
  /// Collective at first, then known: see CoresOfRank().
  int Cores();

private:
  vtkSmartPointer<vtkMultiProcessController> Of;
  std::unique_ptr<Communicator> Ranks = MakeSelfCommunicator();
  int CoresHere = 0;  ///< 0: not known yet
};

}  // namespace patchio

#endif
