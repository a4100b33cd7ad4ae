#include "ReaderRanks.h"

#include "FilterThreads.h"
#include "Filters/BlockFilter.h"

namespace patchio {

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
