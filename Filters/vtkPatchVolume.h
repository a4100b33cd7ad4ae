/**
 * @class vtkPatchVolume
 * @brief Makes an image of blocks of several levels, for volume rendering
 *
 * VTK draws a volume of blocks from back to front, and blocks of several levels have no such order. This
 * filter makes one image of all visible cells (filters::FillImage), with the cell size of the finest level
 * for which MaximumCells suffice. It takes uniform and rectilinear blocks of three dimensions.
 *
 * Each rank makes a part of the image. The output is a multiblock data set of these parts, because VTK must
 * know the size of a single image before it has read the data that this size depends on.
 */
#ifndef vtkPatchVolume_h
#define vtkPatchVolume_h

#include "vtkMultiBlockDataSetAlgorithm.h"
#include "vtkPatchIOFiltersModule.h"  // for the export macro

#include <memory>  // for the implementation class

class VTKPATCHIOFILTERS_EXPORT vtkPatchVolume : public vtkMultiBlockDataSetAlgorithm
{
public:
  static vtkPatchVolume* New();
  vtkTypeMacro(vtkPatchVolume, vtkMultiBlockDataSetAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// Greatest number of cells of the image, of all ranks together. Default: 16 million.
  vtkSetClampMacro(MaximumCells, vtkIdType, 1, VTK_ID_MAX);
  vtkGetMacro(MaximumCells, vtkIdType);
  ///@}

  ///@{
  /// The names of the arrays in the image. By default, the image has all arrays.
  void AddCellArray(const char* name);
  void ClearCellArrays();
  void AddPointArray(const char* name);
  void ClearPointArrays();
  ///@}

protected:
  vtkPatchVolume();
  ~vtkPatchVolume() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  int MakeImages(vtkDataObject* input, vtkMultiBlockDataSet* output);
  void WarnOfMissing(
      const char* kind, const std::vector<std::string>& wanted, const std::vector<std::string>& found);
  vtkPatchVolume(const vtkPatchVolume&) = delete;
  void operator=(const vtkPatchVolume&) = delete;

  vtkIdType MaximumCells = 16000000;
  struct Internals;
  std::unique_ptr<Internals> Internal;
};

#endif
