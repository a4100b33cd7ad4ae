// Helpers of the filters that process all blocks of their input together.
#ifndef Filters_BlockFilter_h
#define Filters_BlockFilter_h

#include "Base/Communicator.h"
#include "Filters/BlockPart.h"

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

class vtkAlgorithm;
class vtkCompositeDataSet;
class vtkInformation;
class vtkMultiProcessController;

namespace patchio {

/// Sets the data object of `output` to an empty tree of the class that VTK itself creates when it runs a
/// filter on `input` block by block. Keeps a data object of this class that `output` already has.
void SetTreeOutput(vtkCompositeDataSet* input, vtkInformation* output);

/// Sets the data object of `output`, for the result of a filter: an empty tree (see SetTreeOutput()) if
/// `input` is composite, otherwise an empty data set of the class `className`. Keeps a data object of this
/// class that `output` already has.
void SetOutput(vtkDataObject* input, const char* className, vtkInformation* output);

/// Sets the children of `output` to `children`, one data set for each of `names`
/// (filters::Blocks::ChildNames). The children of a vtkPartitionedDataSet get no names. If `output` is not a
/// tree, copies the only child to `output` (shallow copy); does nothing unless there is exactly one child.
void SetChildren(const std::vector<std::string>& names,
    const std::vector<vtkSmartPointer<vtkDataObject>>& children, vtkDataObject* output);

template <typename Data>
void SetChildren(const std::vector<std::string>& names, const std::vector<vtkSmartPointer<Data>>& children,
    vtkDataObject* output)
{
  SetChildren(names, std::vector<vtkSmartPointer<vtkDataObject>>(children.begin(), children.end()), output);
}

/// Fills `output` with one unstructured grid for each of Blocks::ChildNames, made of the parts that `extract`
/// returns. `progress` receives the progress of `extract` and of making the grids, together up to 1. If
/// `progress` returns false, the remaining grids are empty.
void FillGrids(const filters::Blocks& blocks,
    const std::function<std::vector<filters::BlockPart>(const ProgressCallback&)>& extract,
    const ProgressCallback& progress, vtkDataObject* output);

/// The array that SetInputArrayToProcess() of a filter selects.
struct ArrayToProcess
{
  std::string Name;  ///< empty: no array is selected
  int Association;   ///< such as vtkDataObject::FIELD_ASSOCIATION_CELLS

  bool OfCells() const { return this->Association == vtkDataObject::FIELD_ASSOCIATION_CELLS; }
};
/// Returns the array that SetInputArrayToProcess() of `filter` selects, with index 0.
ArrayToProcess GetArrayToProcess(vtkAlgorithm& filter);

/// Calls `work` and returns the result of `work`. If `work` throws, for example std::bad_alloc, reports the
/// exception as an error of `filter`, empties `output` (may be null) and returns 1. Without this function, an
/// exception would end the program.
int RunAndReportErrors(vtkAlgorithm* filter, vtkDataObject* output, const std::function<int()>& work);

/// Runs `filter` on a shallow copy of `input` (block by block if `input` is composite and VTK runs `filter`
/// on each block), copies the result to `output`, and removes the input of `filter`. Returns 1; returns 0 if
/// `filter` has no result, or if `output` is not of the class of the result.
int RunOnCopy(vtkAlgorithm* filter, vtkDataObject* input, vtkDataObject* output);

/// Returns a communicator of the ranks of `controller`, or of this process alone if `controller` is null or
/// does not use MPI.
std::unique_ptr<Communicator> MakeCommunicator(vtkMultiProcessController* controller);
/// Returns a communicator of the ranks of VTK's global controller.
std::unique_ptr<Communicator> GlobalCommunicator();

}  // namespace patchio

#endif
