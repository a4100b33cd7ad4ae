#include "vtkPatchTemporalStatistics.h"

#include "Filters/BlockFilter.h"

#include <vtkCompositeDataIterator.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataSet.h>
#include <vtkDataSetAttributes.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkPointSet.h>
#include <vtkSmartPointer.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>
#include <vector>

namespace {

/// Returns whether two bounds are equal except for rounding errors.
bool AreSameBounds(const double a[6], const double b[6])
{
  double longest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    longest = std::max(longest, a[2 * axis + 1] - a[2 * axis]);
  }
  return std::equal(a, a + 6, b, [=](double x, double y) { return std::abs(x - y) <= 1e-6 * longest; });
}

/// Returns whether both data sets have the same type, the same numbers of cells and points and, unless their
/// points are explicit, the same bounds, also of their first cells.
bool AreAlike(vtkDataObject* a, vtkDataObject* b)
{
  if (std::strcmp(a->GetClassName(), b->GetClassName()) != 0) {
    return false;
  }
  vtkDataSet *const one = vtkDataSet::SafeDownCast(a), *const other = vtkDataSet::SafeDownCast(b);
  if (!one || !other) {
    return true;
  }
  const vtkIdType cells = one->GetNumberOfCells();
  if (cells != other->GetNumberOfCells() || one->GetNumberOfPoints() != other->GetNumberOfPoints()) {
    return false;
  }
  if (cells == 0 || vtkPointSet::SafeDownCast(one)) {
    return true;
  }
  double first[2][6];
  one->GetCellBounds(0, first[0]);
  other->GetCellBounds(0, first[1]);
  return AreSameBounds(one->GetBounds(), other->GetBounds()) && AreSameBounds(first[0], first[1]);
}

/// Compares the blocks of this rank at two steps. Returns the numbers of blocks at the first and the current
/// step, and of blocks that differ.
std::vector<double> Compare(vtkCompositeDataSet* first, vtkCompositeDataSet* current)
{
  const auto a = vtkSmartPointer<vtkCompositeDataIterator>::Take(first->NewIterator());
  const auto b = vtkSmartPointer<vtkCompositeDataIterator>::Take(current->NewIterator());
  a->InitTraversal();
  b->InitTraversal();
  std::vector<double> found(3, 0);
  while (!a->IsDoneWithTraversal() || !b->IsDoneWithTraversal()) {
    const bool hasA = !a->IsDoneWithTraversal(), hasB = !b->IsDoneWithTraversal();
    found[0] += hasA;
    found[1] += hasB;
    found[2] += !hasA || !hasB || a->GetCurrentFlatIndex() != b->GetCurrentFlatIndex() ||
                !AreAlike(a->GetCurrentDataObject(), b->GetCurrentDataObject());
    if (hasA) {
      a->GoToNextItem();
    }
    if (hasB) {
      b->GoToNextItem();
    }
  }
  return found;
}

/// Returns the ghost flags in the cell data or point data `data`; null if `data` has no ghost flags.
vtkUnsignedCharArray* FlagsOf(vtkFieldData* data)
{
  return vtkUnsignedCharArray::SafeDownCast(data->GetAbstractArray(vtkDataSetAttributes::GhostArrayName()));
}

/// Adds a copy of the ghost flags `flags` to `data`.
void CopyFlags(vtkDataArray* flags, vtkFieldData* data)
{
  const auto copy = vtkSmartPointer<vtkDataArray>::Take(flags->NewInstance());
  copy->DeepCopy(flags);
  copy->SetName(vtkDataSetAttributes::GhostArrayName());
  data->AddArray(copy);
}

/// Hides in `steps`, the result of all steps, the cells or points that are hidden in `step`.
void AddFlags(vtkFieldData* step, vtkFieldData* steps)
{
  vtkUnsignedCharArray *const current = FlagsOf(step), *const all = FlagsOf(steps);
  if (current && !all) {
    CopyFlags(current, steps);
  } else if (current && current->GetNumberOfValues() == all->GetNumberOfValues()) {
    std::transform(current->Begin(), current->End(), all->Begin(), all->Begin(),
        [](unsigned char a, unsigned char b) { return static_cast<unsigned char>(a | b); });
    all->Modified();
  }
}

}  // namespace

vtkStandardNewMacro(vtkPatchTemporalStatistics);

int vtkPatchTemporalStatistics::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkCompositeDataSet* const input = vtkCompositeDataSet::GetData(inputs[0]);
  vtkCompositeDataSet* const output = vtkCompositeDataSet::GetData(outputs);
  if (!input || this->CurrentTimeIndex == 0 || this->CheckBlocks(output, input)) {
    return this->Superclass::RequestData(request, inputs, outputs);
  }
  output->Initialize();
  request->Remove(vtkStreamingDemandDrivenPipeline::CONTINUE_EXECUTING());
  this->CurrentTimeIndex = 0;
  return 1;
}

bool vtkPatchTemporalStatistics::CheckBlocks(vtkCompositeDataSet* first, vtkCompositeDataSet* current)
{
  const auto ranks = patchio::GlobalCommunicator();
  const std::vector<double> sums = ranks->Sum(Compare(first, current));
  const auto firstBlocks = static_cast<vtkIdType>(sums[0]), currentBlocks = static_cast<vtkIdType>(sums[1]);
  if (sums[2] == 0) {
    return true;
  }
  std::ostringstream step, text;
  step << "time step " << this->CurrentTimeIndex;
  if (current->GetInformation()->Has(vtkDataObject::DATA_TIME_STEP())) {
    step << " (time " << current->GetInformation()->Get(vtkDataObject::DATA_TIME_STEP()) << ")";
  }
  if (firstBlocks == currentBlocks) {
    text << "The " << currentBlocks << " blocks at " << step.str()
         << " are not the blocks at the first time step: their types, positions or sizes differ";
  } else {
    text << "The first time step has " << firstBlocks << " blocks and " << step.str() << " has "
         << currentBlocks;
  }
  text << ". Temporal Statistics requires the same blocks at all time steps";
  if (firstBlocks == 0 || currentBlocks == 0) {
    text << ". Check that all time steps are complete.";
  } else {
    text << ". Apply Resample To Image first, or select a refinement level that does not change (Level Range "
            "of the PatchIO reader).";
  }
  if (ranks->Rank() == 0) {
    vtkErrorMacro(<< text.str());
  }
  return false;
}

void vtkPatchTemporalStatistics::InitializeArray(vtkDataArray* array, vtkFieldData* outFd)
{
  if (!array->GetName() || std::strcmp(array->GetName(), vtkDataSetAttributes::GhostArrayName()) != 0) {
    this->Superclass::InitializeArray(array, outFd);
  } else {
    CopyFlags(array, outFd);
  }
}

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
void vtkPatchTemporalStatistics::AccumulateArrays(vtkFieldData* inFd, vtkFieldData* outFd)
{
  this->Superclass::AccumulateArrays(inFd, outFd);
  AddFlags(inFd, outFd);
}
#else
void vtkPatchTemporalStatistics::AccumulateArrays(
    vtkFieldData* inFd, vtkFieldData* outFd, int currentTimeIndex)
{
  this->Superclass::AccumulateArrays(inFd, outFd, currentTimeIndex);
  AddFlags(inFd, outFd);
}
#endif
