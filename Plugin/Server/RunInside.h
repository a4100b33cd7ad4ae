// A filter of PatchIO that does the work of a filter of ParaView.
#ifndef RunInside_h
#define RunInside_h

class vtkAlgorithm;
class vtkDataObject;
class vtkPatchFilter;

namespace patchio {

/// Whether users want PatchIO's filters (vtkPatchSettings), and the inner one supports the input; it has then
/// filled the output. Collective. The outer filter shows the progress, and aborts the inner one. May throw
/// std::exception.
bool RunInside(vtkPatchFilter& inner, vtkAlgorithm& outer, vtkDataObject* input, vtkDataObject* output);

}  // namespace patchio

#endif
