// Runs a filter of PatchIO in place of a filter of ParaView.
#ifndef RunInside_h
#define RunInside_h

#include <functional>

class vtkAlgorithm;
class vtkDataObject;
class vtkInformationVector;
class vtkPatchFilter;

namespace patchio {

/// Collective: fills the output by `inner` if users want PatchIO's filters (vtkPatchSettings) and `inner`
/// supports the input. Returns whether `inner` has filled the output, the same on all ranks. `outer` reports
/// the progress, and an abort of `outer` stops `inner`. May throw std::exception.
bool RunInside(vtkPatchFilter& inner, vtkAlgorithm& outer, vtkDataObject* input, vtkDataObject* output);

/// The three ways in which a filter of ParaView that PatchIO replaces can execute.
struct Ways
{
  std::function<bool(vtkDataObject* input, vtkDataObject* output)> ByPatchIO;  ///< false: unsupported input
  std::function<int(vtkDataObject* input, vtkDataObject* output)> ByBlocks;  ///< ParaView's filter, on trees
  std::function<int()> BySuperclass;  ///< ParaView's filter, on other data
};

/// Executes `filter` in the first way that fits its input. Collective if the input is composite data or a
/// data set. An exception becomes an error of the filter, see Guarded(). Returns the result of this way; 1
/// for ByPatchIO.
int Execute(
    vtkAlgorithm& filter, vtkInformationVector** inputs, vtkInformationVector* outputs, const Ways& ways);

}  // namespace patchio

#endif
