#include "RunInside.h"

#include "Filters/BlockFilter.h"
#include "vtkPatchFilter.h"
#include "vtkPatchSettings.h"

#include <vtkCallbackCommand.h>
#include <vtkCommand.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataSet.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>

namespace patchio {
namespace {

/// Reports the progress of the inner filter, `caller`, as progress of the filter `outer`, and passes an abort
/// of `outer` to the inner filter. `progress` points to a double from 0 to 1.
void ForwardProgress(vtkObject* caller, unsigned long, void* outer, void* progress)
{
  auto* const inner = vtkAlgorithm::SafeDownCast(caller);
  auto* const filter = static_cast<vtkAlgorithm*>(outer);
  filter->UpdateProgress(*static_cast<const double*>(progress));
  if (filter->GetAbortExecute()) {
    inner->SetAbortExecute(1);
  }
}

}  // namespace

bool RunInside(vtkPatchFilter& inner, vtkAlgorithm& outer, vtkDataObject* input, vtkDataObject* output)
{
  if (!vtkPatchSettings::GetFastExtraction()) {
    return false;
  }
  outer.SetAbortExecute(0);  // an earlier execution that the user stopped may have set the flag
  vtkNew<vtkCallbackCommand> pass;
  pass->SetCallback(ForwardProgress);
  pass->SetClientData(&outer);
  const unsigned long observerTag = inner.AddObserver(vtkCommand::ProgressEvent, pass);
  struct ObserverGuard
  {
    vtkPatchFilter& Filter;
    unsigned long ObserverTag;
    ~ObserverGuard() { this->Filter.RemoveObserver(this->ObserverTag); }
  } guard{inner, observerTag};
  return inner.Run(input, output);
}

int Execute(vtkAlgorithm& filter, vtkInformationVector** inputs, vtkInformationVector* outputs,
    const Implementations& implementations)
{
  vtkDataObject* const input = vtkDataObject::GetData(inputs[0]);
  vtkDataObject* const output = vtkDataObject::GetData(outputs);
  const bool isTree = vtkCompositeDataSet::SafeDownCast(input);
  return RunAndReportErrors(&filter, output, [&] {
    if ((isTree || vtkDataSet::SafeDownCast(input)) && implementations.ByPatchIO(input, output)) {
      return 1;
    }
    return isTree ? implementations.ByBlocks(input, output) : implementations.BySuperclass();
  });
}

}  // namespace patchio
