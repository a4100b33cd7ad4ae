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
void SetChildNames(const std::vector<std::string>& names, Tree* tree)
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
  // AMR data hold images only, but the output has other data sets. Since VTK 9.6, AMR data are trees, too.
  const bool isTree = !vtkUniformGridAMR::SafeDownCast(input) && vtkDataObjectTree::SafeDownCast(input);
  const char* const className = isTree ? input->GetClassName()
                                : vtkPartitionedDataSetCollection::SafeDownCast(input)
                                    ? "vtkPartitionedDataSetCollection"
                                    : "vtkMultiBlockDataSet";
  vtkDataObject* const before = output->Get(vtkDataObject::DATA_OBJECT());
  if (before && !std::strcmp(before->GetClassName(), className)) {
    return;
  }
  const auto tree = vtkSmartPointer<vtkDataObject>::Take(vtkDataObjectTypes::NewDataObject(className));
  output->Set(vtkDataObject::DATA_OBJECT(), tree);
}

void SetOutput(vtkDataObject* input, const char* className, vtkInformation* output)
{
  vtkDataObject* const before = output->Get(vtkDataObject::DATA_OBJECT());
  if (auto* const tree = vtkCompositeDataSet::SafeDownCast(input)) {
    SetTreeOutput(tree, output);
  } else if (!before || !before->IsA(className)) {
    output->Set(vtkDataObject::DATA_OBJECT(),
        vtkSmartPointer<vtkDataObject>::Take(vtkDataObjectTypes::NewDataObject(className)));
  }
}

void SetChildren(const std::vector<std::string>& names,
    const std::vector<vtkSmartPointer<vtkDataObject>>& children, vtkDataObject* output)
{
  const auto count = static_cast<unsigned int>(children.size());
  if (auto* const blocks = vtkMultiBlockDataSet::SafeDownCast(output)) {
    blocks->SetNumberOfBlocks(count);
    for (unsigned int p = 0; p < count; ++p) {
      blocks->SetBlock(p, children[p]);
    }
    SetChildNames(names, blocks);
  } else if (auto* const collection = vtkPartitionedDataSetCollection::SafeDownCast(output)) {
    collection->SetNumberOfPartitionedDataSets(count);
    for (unsigned int p = 0; p < count; ++p) {
      collection->SetPartition(p, 0, children[p]);
    }
    SetChildNames(names, collection);
  } else if (auto* const partitions = vtkPartitionedDataSet::SafeDownCast(output)) {
    partitions->SetNumberOfPartitions(count);
    for (unsigned int p = 0; p < count; ++p) {
      partitions->SetPartition(p, children[p]);
    }
  } else if (count == 1) {
    output->ShallowCopy(children[0]);
  }
}

void FillGrids(const filters::Blocks& blocks,
    const std::function<std::vector<filters::BlockPart>(const ProgressCallback&)>& extract,
    const ProgressCallback& progress, vtkDataObject* output)
{
  progress(0.01);
  const std::vector<filters::BlockPart> parts =
      extract([&](double fraction) { return progress(0.4 * fraction); });
  SetChildren(blocks.ChildNames,
      filters::MakeGrids(blocks, parts, [&](double fraction) { return progress(0.4 + 0.6 * fraction); }),
      output);
  progress(1.0);
}

ArrayToProcess GetArrayToProcess(vtkAlgorithm& filter)
{
  vtkInformation* const array = filter.GetInputArrayInformation(0);
  const char* const name =
      array->Has(vtkDataObject::FIELD_NAME()) ? array->Get(vtkDataObject::FIELD_NAME()) : nullptr;
  return {name ? name : "", array->Get(vtkDataObject::FIELD_ASSOCIATION())};
}

int RunAndReportErrors(vtkAlgorithm* filter, vtkDataObject* output, const std::function<int()>& work)
{
  int result = 0;
  const std::string fault = CatchError([&] { result = work(); });
  if (fault.empty()) {
    return result;
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
  vtkDataObject* const result = filter->GetOutputDataObject(0);
  const bool matches = result && output->IsA(result->GetClassName());
  if (matches) {
    output->ShallowCopy(result);
  }
  filter->SetInputDataObject(nullptr);
  return matches ? 1 : 0;
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

std::unique_ptr<Communicator> GlobalCommunicator()
{
  return MakeCommunicator(vtkMultiProcessController::GetGlobalController());
}

}  // namespace patchio
