#include "RunInside.h"

#include "vtkPatchFilter.h"
#include "vtkPatchSettings.h"

#include <vtkCallbackCommand.h>
#include <vtkCommand.h>
#include <vtkNew.h>

namespace patchio {
namespace {

void PassProgress(vtkObject* caller, unsigned long, void* outer, void* progress)
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
  outer.SetAbortExecute(0);  // set by an earlier execution that the user stopped
  vtkNew<vtkCallbackCommand> pass;
  pass->SetCallback(PassProgress);
  pass->SetClientData(&outer);
  const unsigned long observer = inner.AddObserver(vtkCommand::ProgressEvent, pass);
  struct Removes
  {
    vtkPatchFilter& From;
    unsigned long Observer;
    ~Removes() { this->From.RemoveObserver(this->Observer); }
  } removes{inner, observer};
  return inner.Run(input, output);
}

}  // namespace patchio
