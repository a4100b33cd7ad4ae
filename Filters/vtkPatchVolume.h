/**
 * @class vtkPatchVolume
 * @brief Makes an image of blocks of several levels, for volume rendering
 *
 * VTK renders the volumes of blocks from back to front, but blocks of several levels have no such order. This
 * filter makes one image of all visible cells (filters::FillImage), with the cell size of the finest level
 * for which MaximumCells suffice. The input must consist of uniform or rectilinear blocks of three
 * dimensions.
 *
 * Each rank makes a part of the image. The output is a multiblock data set of these parts. The output cannot
 * be a single image, because VTK requires the size of an image before the data are read, and the size depends
 * on the data.
 */
#ifndef vtkPatchVolume_h
#define vtkPatchVolume_h

#include "vtkMultiBlockDataSetAlgorithm.h"
#include "vtkPatchIOFiltersModule.h"  // for the export macro

#include <string>  // for the names of arrays
#include <vector>  // for the names of arrays

class VTKPATCHIOFILTERS_EXPORT vtkPatchVolume : public vtkMultiBlockDataSetAlgorithm
{
public:
  static vtkPatchVolume* New();
  vtkTypeMacro(vtkPatchVolume, vtkMultiBlockDataSetAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// Greatest number of cells of the whole image. Default: 16 million.
  vtkSetClampMacro(MaximumCells, vtkIdType, 1, VTK_ID_MAX);
  vtkGetMacro(MaximumCells, vtkIdType);
  ///@}

  ///@{
  /// The names of the cell and point arrays in the image. Default: no names, so that the image has all
  /// arrays.
  void AddCellArray(const char* name) { this->AddName(name, this->CellArrays); }
  void ClearCellArrays() { this->ClearNames(this->CellArrays); }
  void AddPointArray(const char* name) { this->AddName(name, this->PointArrays); }
  void ClearPointArrays() { this->ClearNames(this->PointArrays); }
  ///@}

protected:
  vtkPatchVolume() = default;
  ~vtkPatchVolume() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  using Names = std::vector<std::string>;

  void AddName(const char* name, Names& names);
  void ClearNames(Names& names);
  /// Fills `output` with this rank's part of the image. Reports an error if the input is not supported.
  /// Returns 1. Collective: every rank of the global controller calls it.
  int MakeImage(vtkDataObject* input, vtkMultiBlockDataSet* output);
  /// Warns of each name in `requested` that is not in `found`. `type`: "cell" or "point".
  void WarnOfMissingArrays(const char* type, const Names& requested, const Names& found);

  vtkPatchVolume(const vtkPatchVolume&) = delete;
  void operator=(const vtkPatchVolume&) = delete;

  vtkIdType MaximumCells = 16000000;
  Names CellArrays, PointArrays;
};

#endif
