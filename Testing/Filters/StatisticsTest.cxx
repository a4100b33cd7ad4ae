// Checks the ghost flags of Temporal Statistics.
#include "vtkPatchTemporalStatistics.h"

#include <gtest/gtest.h>
#include <vtkCellData.h>
#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkInformation.h>
#include <vtkInformationVector.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkMultiBlockDataSetAlgorithm.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkStreamingDemandDrivenPipeline.h>
#include <vtkUnsignedCharArray.h>

namespace {

/// Gives out three cells at two steps. A cell is hidden at the second step only.
class TwoSteps : public vtkMultiBlockDataSetAlgorithm
{
public:
  static TwoSteps* New();
  vtkTypeMacro(TwoSteps, vtkMultiBlockDataSetAlgorithm);

protected:
  TwoSteps() { this->SetNumberOfInputPorts(0); }

  int RequestInformation(vtkInformation*, vtkInformationVector**, vtkInformationVector* outputs) override
  {
    const double times[] = {0, 1};
    outputs->GetInformationObject(0)->Set(vtkStreamingDemandDrivenPipeline::TIME_STEPS(), times, 2);
    outputs->GetInformationObject(0)->Set(vtkStreamingDemandDrivenPipeline::TIME_RANGE(), times, 2);
    return 1;
  }

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector* outputs) override
  {
    const double time =
        outputs->GetInformationObject(0)->Get(vtkStreamingDemandDrivenPipeline::UPDATE_TIME_STEP());
    vtkNew<vtkImageData> image;
    image->SetDimensions(4, 2, 2);
    vtkNew<vtkDoubleArray> values;
    values->SetName("u");
    values->SetNumberOfValues(3);
    values->Fill(time);
    image->GetCellData()->AddArray(values);
    if (time == 1) {
      vtkNew<vtkUnsignedCharArray> flags;
      flags->SetName(vtkDataSetAttributes::GhostArrayName());
      flags->SetNumberOfValues(3);
      flags->Fill(0);
      flags->SetValue(1, vtkDataSetAttributes::HIDDENCELL);
      image->GetCellData()->AddArray(flags);
    }
    vtkMultiBlockDataSet::GetData(outputs)->SetBlock(0, image);
    return 1;
  }
};

vtkStandardNewMacro(TwoSteps);

TEST(TemporalStatistics, HidesCellsThatAreHiddenAtALaterStepOnly)
{
  vtkNew<TwoSteps> steps;
  vtkNew<vtkPatchTemporalStatistics> statistics;
  statistics->SetInputConnection(steps->GetOutputPort());
  statistics->Update();
  auto* const blocks = vtkMultiBlockDataSet::SafeDownCast(statistics->GetOutputDataObject(0));
  ASSERT_TRUE(blocks);
  auto* const image = vtkImageData::SafeDownCast(blocks->GetBlock(0));
  ASSERT_TRUE(image);
  vtkUnsignedCharArray* const flags = image->GetCellGhostArray();
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->GetValue(0), 0);
  EXPECT_EQ(flags->GetValue(1), vtkDataSetAttributes::HIDDENCELL);
  EXPECT_EQ(flags->GetValue(2), 0);
  vtkDataArray* const averages = image->GetCellData()->GetArray("u_average");
  ASSERT_TRUE(averages);
  EXPECT_EQ(averages->GetTuple1(0), 0.5);
}

}  // namespace
