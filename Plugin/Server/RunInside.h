// Runs a filter of PatchIO in place of a filter of ParaView.
#ifndef RunInside_h
#define RunInside_h

#include <functional>

class vtkAlgorithm;
class vtkDataObject;
class vtkInformationVector;
class vtkPatchFilter;

namespace patchio {

/// Fills `output` by `inner` if the setting Fast Extraction (vtkPatchSettings) is on and `inner` supports
/// `input` and the values that the properties of `inner` have. `outer` reports the progress of `inner`, and
/// an abort of `outer` during the call (an earlier abort is reset) stops `inner`. Returns whether `inner` has
/// filled `output`, the same on all ranks. Throws exceptions such as std::bad_alloc. Collective: every rank
/// of the global controller calls it.
bool RunInside(vtkPatchFilter& inner, vtkAlgorithm& outer, vtkDataObject* input, vtkDataObject* output);

/// The three implementations of a filter of ParaView that PatchIO replaces. The integers are the results of
/// vtkAlgorithm::ProcessRequest(): 0 after an error, otherwise 1.
struct Implementations
{
  /// Runs PatchIO's filter on composite data or a data set. Returns false, the same on all ranks, if
  /// ParaView's filter must run.
  std::function<bool(vtkDataObject* input, vtkDataObject* output)> ByPatchIO;
  /// Runs ParaView's filter on composite data.
  std::function<int(vtkDataObject* input, vtkDataObject* output)> ByBlocks;
  /// Runs ParaView's filter on other data.
  std::function<int()> BySuperclass;
};

/// Executes the first of the implementations that supports the input and the properties of `filter`. Turns an
/// exception into an error of `filter`, see RunAndReportErrors(). Returns 1 after ByPatchIO and after an
/// exception, otherwise the result of the implementation. Collective if the input is composite data or a data
/// set: every rank of the global controller calls it.
int Execute(vtkAlgorithm& filter, vtkInformationVector** inputs, vtkInformationVector* outputs,
    const Implementations& implementations);

}  // namespace patchio

#endif
