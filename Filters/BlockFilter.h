// Helpers of the filters that process all blocks of their input together.
#ifndef Filters_BlockFilter_h
#define Filters_BlockFilter_h

#include "Base/Communicator.h"
#include "Filters/Part.h"

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

/// Gives `output` a tree of the class that VTK itself creates when it runs a filter on `input` block by
/// block, unless `output` has such a tree already.
void SetTreeOutput(vtkCompositeDataSet* input, vtkInformation* output);

/// Gives `output` an empty data object for the result of a filter: a tree (see SetTreeOutput()) if `input` is
/// composite, otherwise a data set of the class `kind`. Keeps a data object of this class that `output` has
/// already.
void SetOutput(vtkDataObject* input, const char* kind, vtkInformation* output);

/// Puts one data set per piece (see filters::Blocks::Pieces) into `output`, with the pieces' names. An output
/// that is not a tree becomes a shallow copy of the only piece.
void PutPieces(const std::vector<std::string>& names,
    const std::vector<vtkSmartPointer<vtkDataObject>>& pieces, vtkDataObject* output);

template <typename Data>
void PutPieces(const std::vector<std::string>& names, const std::vector<vtkSmartPointer<Data>>& pieces,
    vtkDataObject* output)
{
  PutPieces(names, std::vector<vtkSmartPointer<vtkDataObject>>(pieces.begin(), pieces.end()), output);
}

/// Fills `output` with one unstructured grid per piece, made of the parts that `take` returns. `progress`
/// receives the progress of `take` and of making the grids, together from 0 to 1.
void PutCells(const filters::Blocks& blocks,
    const std::function<std::vector<filters::Part>(const ProgressCallback&)>& take,
    const ProgressCallback& progress, vtkDataObject* output);

/// The array that a filter's property SetInputArrayToProcess() names.
struct ChosenArray
{
  std::string Name;  ///< empty if no array is named
  int Association;   ///< such as vtkDataObject::FIELD_ASSOCIATION_CELLS
};
ChosenArray ArrayOf(vtkAlgorithm& filter);

/// Calls `work` and returns its result. If `work` throws, for example std::bad_alloc, reports an error of
/// `filter`, empties `output` (may be null) and returns 1; VTK itself would end the program.
int Guarded(vtkAlgorithm* filter, vtkDataObject* output, const std::function<int()>& work);

/// Runs `filter` on a shallow copy of `input`, block by block for composite data, and copies the result to
/// `output`. Returns 0 if there is no result, or if its class does not match that of `output`.
int RunOnCopy(vtkAlgorithm* filter, vtkDataObject* input, vtkDataObject* output);

/// Returns the ranks of `controller`, or this process alone if `controller` is null or has no MPI.
std::unique_ptr<Communicator> MakeCommunicator(vtkMultiProcessController* controller);
/// Returns the ranks of the process's global controller.
std::unique_ptr<Communicator> AllRanks();

}  // namespace patchio

#endif
