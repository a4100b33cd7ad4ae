#include "ThreadData.h"

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkStringArray.h>

#include <sstream>

namespace patchio {
namespace {

void AddNumber(vtkFieldData* fieldData, const char* name, double value)
{
  vtkNew<vtkDoubleArray> array;
  array->SetName(name);
  array->InsertNextValue(value);
  fieldData->AddArray(array);
}

}  // namespace

void AddThreadData(const ThreadsUsed& threads, vtkFieldData* fieldData)
{
  AddNumber(fieldData, "I/O N*", threads.Concurrency);
  AddNumber(fieldData, "I/O NC", threads.Load);
  vtkNew<vtkDoubleArray> changes;
  changes->SetName("I/O reads in flight");
  changes->SetNumberOfComponents(2);
  changes->SetComponentName(0, "seconds");
  changes->SetComponentName(1, "reads");
  for (const ThreadChange& change : threads.Changes) {
    changes->InsertNextTuple2(change.Seconds, change.Threads);
  }
  fieldData->AddArray(changes);
  vtkNew<vtkStringArray> lines;
  lines->SetName("I/O threads");
  std::istringstream text(threads.Text);
  for (std::string line; std::getline(text, line);) {
    lines->InsertNextValue(line);
  }
  fieldData->AddArray(lines);
}

}  // namespace patchio
