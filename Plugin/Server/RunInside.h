// Runs a filter of PatchIO in place of a filter of ParaView.
#ifndef RunInside_h
#define RunInside_h

class vtkAlgorithm;
class vtkDataObject;
class vtkPatchFilter;

namespace patchio {

/// Collective: fills the output by `inner` if users want PatchIO's filters (vtkPatchSettings) and `inner`
/// supports the input. Returns whether it did, the same on all ranks. `outer` shows the progress, and aborts
/// `inner`. May throw std::exception.
bool RunInside(vtkPatchFilter& inner, vtkAlgorithm& outer, vtkDataObject* input, vtkDataObject* output);

}  // namespace patchio

#endif
