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

int Execute(
    vtkAlgorithm& filter, vtkInformationVector** inputs, vtkInformationVector* outputs, const Ways& ways)
{
  vtkDataObject* const input = vtkDataObject::GetData(inputs[0]);
  vtkDataObject* const output = vtkDataObject::GetData(outputs);
  const bool isTree = vtkCompositeDataSet::SafeDownCast(input);
  return Guarded(&filter, output, [&] {
    if ((isTree || vtkDataSet::SafeDownCast(input)) && ways.ByPatchIO(input, output)) {
      return 1;
    }
    return isTree ? ways.ByBlocks(input, output) : ways.BySuperclass();
  });
}

}  // namespace patchio
