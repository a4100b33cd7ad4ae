#include "ReaderRanks.h"

#include "FilterThreads.h"

#include <vtkMPI.h>
#include <vtkMPICommunicator.h>
#include <vtkMPIController.h>

namespace patchio {

std::unique_ptr<Communicator> MakeCommunicator(vtkMultiProcessController* controller)
{
  auto* mpi = vtkMPIController::SafeDownCast(controller);
  if (mpi && mpi->GetNumberOfProcesses() > 1) {
    auto* communicator = vtkMPICommunicator::SafeDownCast(mpi->GetCommunicator());
    return MakeMpiCommunicator(*communicator->GetMPIComm()->GetHandle());
  }
  return MakeSelfCommunicator();
}

void ReaderRanks::Use(vtkMultiProcessController* controller)
{
  this->Of = controller;
  this->Ranks = MakeCommunicator(controller);
  this->CoresHere = 0;
}

int ReaderRanks::Cores()
{
  if (this->CoresHere == 0) {
    this->CoresHere = CoresOfRank(*this->Ranks);
  }
  return this->CoresHere;
}

}  // namespace patchio
