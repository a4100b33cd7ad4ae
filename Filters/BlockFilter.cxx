#include "Filters/BlockFilter.h"

#include "Base/Communicator.h"
#include "Filters/DataOfParts.h"

#include <vtkAlgorithm.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataObjectTree.h>
#include <vtkDataObjectTypes.h>
#include <vtkInformation.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiProcessController.h>
#include <vtkPartitionedDataSet.h>
#include <vtkPartitionedDataSetCollection.h>
#include <vtkUniformGridAMR.h>
#include <vtkUnstructuredGrid.h>
#ifdef VTK_MODULE_ENABLE_VTK_ParallelMPI
#include <vtkMPI.h>
#include <vtkMPICommunicator.h>
#include <vtkMPIController.h>
#endif

#include <cstring>

namespace patchio {
namespace {

template <typename Tree>
void PutNames(const std::vector<std::string>& names, Tree* tree)
{
  for (unsigned int p = 0; p < names.size(); ++p) {
    if (!names[p].empty()) {
      tree->GetMetaData(p)->Set(vtkCompositeDataSet::NAME(), names[p].c_str());
    }
  }
}

}  // namespace

void SetTreeOutput(vtkCompositeDataSet* input, vtkInformation* output)
{
  // AMR data hold images only, and the pieces are other data sets. Since VTK 9.6, AMR data are trees, too.
  const bool isTree = !vtkUniformGridAMR::SafeDownCast(input) && vtkDataObjectTree::SafeDownCast(input);
  const char* const wanted = isTree ? input->GetClassName()
                             : vtkPartitionedDataSetCollection::SafeDownCast(input)
                                 ? "vtkPartitionedDataSetCollection"
                                 : "vtkMultiBlockDataSet";
  vtkDataObject* const before = output->Get(vtkDataObject::DATA_OBJECT());
  if (before && !std::strcmp(before->GetClassName(), wanted)) {
    return;
  }
  const auto tree = vtkSmartPointer<vtkDataObject>::Take(vtkDataObjectTypes::NewDataObject(wanted));
  output->Set(vtkDataObject::DATA_OBJECT(), tree);
}

void SetOutput(vtkDataObject* input, const char* kind, vtkInformation* output)
{
  vtkDataObject* const before = output->Get(vtkDataObject::DATA_OBJECT());
  if (auto* const tree = vtkCompositeDataSet::SafeDownCast(input)) {
    SetTreeOutput(tree, output);
  } else if (!before || !before->IsA(kind)) {
    output->Set(vtkDataObject::DATA_OBJECT(),
        vtkSmartPointer<vtkDataObject>::Take(vtkDataObjectTypes::NewDataObject(kind)));
  }
}

void PutPieces(const std::vector<std::string>& names,
    const std::vector<vtkSmartPointer<vtkDataObject>>& pieces, vtkDataObject* output)
{
  const auto count = static_cast<unsigned int>(pieces.size());
  if (auto* const blocks = vtkMultiBlockDataSet::SafeDownCast(output)) {
    blocks->SetNumberOfBlocks(count);
    for (unsigned int p = 0; p < count; ++p) {
      blocks->SetBlock(p, pieces[p]);
    }
    PutNames(names, blocks);
  } else if (auto* const collection = vtkPartitionedDataSetCollection::SafeDownCast(output)) {
    collection->SetNumberOfPartitionedDataSets(count);
    for (unsigned int p = 0; p < count; ++p) {
      collection->SetPartition(p, 0, pieces[p]);
    }
    PutNames(names, collection);
  } else if (auto* const parts = vtkPartitionedDataSet::SafeDownCast(output)) {
    parts->SetNumberOfPartitions(count);
    for (unsigned int p = 0; p < count; ++p) {
      parts->SetPartition(p, pieces[p]);
    }
  } else if (count == 1) {
    output->ShallowCopy(pieces[0]);
  }
}

void PutCells(const filters::Blocks& blocks,
    const std::function<std::vector<filters::Part>(const ProgressCallback&)>& take,
    const ProgressCallback& progress, vtkDataObject* output)
{
  progress(0.01);
  const std::vector<filters::Part> parts = take([&](double part) { return progress(0.4 * part); });
  PutPieces(blocks.Pieces,
      filters::MakeGrids(blocks, parts, [&](double part) { return progress(0.4 + 0.6 * part); }), output);
  progress(1.0);
}

ChosenArray ArrayOf(vtkAlgorithm& filter)
{
  vtkInformation* const array = filter.GetInputArrayInformation(0);
  const char* const name =
      array->Has(vtkDataObject::FIELD_NAME()) ? array->Get(vtkDataObject::FIELD_NAME()) : nullptr;
  return {name ? name : "", array->Get(vtkDataObject::FIELD_ASSOCIATION())};
}

int Guarded(vtkAlgorithm* filter, vtkDataObject* output, const std::function<int()>& work)
{
  int done = 0;
  const std::string fault = CatchError([&] { done = work(); });
  if (fault.empty()) {
    return done;
  }
  if (output) {
    output->Initialize();
  }
  vtkErrorWithObjectMacro(filter, << fault);
  return 1;
}

int RunOnCopy(vtkAlgorithm* filter, vtkDataObject* input, vtkDataObject* output)
{
  const auto copy = vtkSmartPointer<vtkDataObject>::Take(input->NewInstance());
  copy->ShallowCopy(input);
  filter->SetInputDataObject(copy);
  filter->Update();
  vtkDataObject* const made = filter->GetOutputDataObject(0);
  const bool fits = made && output->IsA(made->GetClassName());
  if (fits) {
    output->ShallowCopy(made);
  }
  filter->SetInputDataObject(nullptr);
  return fits ? 1 : 0;
}

std::unique_ptr<Communicator> MakeCommunicator(vtkMultiProcessController* controller)
{
#ifdef VTK_MODULE_ENABLE_VTK_ParallelMPI
  auto* mpi = vtkMPIController::SafeDownCast(controller);
  if (mpi && mpi->GetNumberOfProcesses() > 1) {
    auto* communicator = vtkMPICommunicator::SafeDownCast(mpi->GetCommunicator());
    return MakeMpiCommunicator(*communicator->GetMPIComm()->GetHandle());
  }
#else
  (void)controller;
#endif
  return MakeSelfCommunicator();
}

std::unique_ptr<Communicator> AllRanks()
{
  return MakeCommunicator(vtkMultiProcessController::GetGlobalController());
}

}  // namespace patchio
