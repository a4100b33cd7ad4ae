// What filters have in common that take all blocks of their input together.
#ifndef Filters_BlockFilter_h
#define Filters_BlockFilter_h

#include "Base/Communicator.h"
#include "Filters/GridOfParts.h"

#include <vtkSmartPointer.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

class vtkAlgorithm;
class vtkCompositeDataSet;
class vtkDataObject;
class vtkInformation;
class vtkMultiProcessController;

namespace patchio {

/// Makes the output the kind of tree that VTK makes when a filter runs on one block of this input after
/// another.
void SetTreeOutput(vtkCompositeDataSet* input, vtkInformation* output);

/// Fills an output with a data set for each piece (see filters::Blocks::Pieces): a tree, or a data set if
/// there is one piece.
void PutPieces(const std::vector<std::string>& names,
    const std::vector<vtkSmartPointer<vtkDataObject>>& pieces, vtkDataObject* output);

template <typename Data>
void PutPieces(const std::vector<std::string>& names, const std::vector<vtkSmartPointer<Data>>& pieces,
    vtkDataObject* output)
{
  PutPieces(names, std::vector<vtkSmartPointer<vtkDataObject>>(pieces.begin(), pieces.end()), output);
}

/// The output of a filter that keeps cells: a grid for each piece. `take` makes the parts; `goesOn` is told
/// how much is done.
void PutCells(const filters::Blocks& blocks,
    const std::function<std::vector<filters::SolidPart>(const filters::GoesOn&)>& take,
    const filters::GoesOn& goesOn, vtkDataObject* output);

/// The array that a filter's property SetInputArrayToProcess() names.
struct ChosenArray
{
  std::string Name;  ///< empty: none
  int Association;   ///< such as vtkDataObject::FIELD_ASSOCIATION_CELLS
};
ChosenArray ArrayOf(vtkAlgorithm& filter);

/// Does the work of a filter. What it throws, such as that memory has run out, becomes an error of the
/// filter, whose output is then empty: VTK itself would end the program.
int Guarded(vtkAlgorithm* filter, vtkDataObject* output, const std::function<int()>& work);

/// Runs another filter on the input, block by block; 0 if it fails.
int RunByItself(vtkAlgorithm* filter, vtkDataObject* input, vtkDataObject* output);

/// The ranks of a controller; without one, or without MPI, this process alone.
std::unique_ptr<Communicator> MakeCommunicator(vtkMultiProcessController* controller);
/// The ranks of the process's global controller.
std::unique_ptr<Communicator> AllRanks();

}  // namespace patchio

#endif
