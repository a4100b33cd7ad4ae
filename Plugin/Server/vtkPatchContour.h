/**
 * @class vtkPatchContour
 * @brief Contour of all blocks at once, without cracks between blocks, levels and ranks
 *
 * While the plugin is loaded, ParaView's Contour is this class (ReplacedFilters.xml). Arrays of cells in
 * blocks of uniform or rectilinear cells are contoured as they are, on all threads and all ranks together:
 * see patchio::extract::DualCells. The output is one piece a rank. Arrays of points in such blocks give one
 * for each child of the input's root. All other input, and what the property UsePatchIO = 0 says, goes to
 * ParaView's own filter; arrays of cells then become arrays of points first.
 *
 * All ranks call this filter, and take the same way.
 */
#ifndef vtkPatchContour_h
#define vtkPatchContour_h

#include "vtkPVContourFilter.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

#include <vtkSmartPointer.h>

#include <string>

class vtkPolyData;

namespace patchio {
class Communicator;
namespace extract {
struct Blocks;
}
}  // namespace patchio

class VTKPATCHIOSERVER_EXPORT vtkPatchContour : public vtkPVContourFilter
{
public:
  static vtkPatchContour* New();
  vtkTypeMacro(vtkPatchContour, vtkPVContourFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * Whether this class makes contours itself where it can (default). Otherwise all input goes to ParaView's
   * filter.
   */
  vtkSetMacro(UsePatchIO, bool);
  vtkGetMacro(UsePatchIO, bool);
  ///@}

  using Superclass::ProcessRequest;
  int ProcessRequest(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

protected:
  vtkPatchContour() = default;
  ~vtkPatchContour() override = default;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int FillInputPortInformation(int port, vtkInformation* info) override;

private:
  vtkPatchContour(const vtkPatchContour&) = delete;
  void operator=(const vtkPatchContour&) = delete;

  bool MakeContour(vtkDataObject* input, vtkDataObject* output);
  vtkSmartPointer<vtkPolyData> ContourOf(
      const patchio::extract::Blocks& blocks, patchio::Communicator& ranks);
  int UseParaView(vtkInformation*, vtkInformationVector**, vtkInformationVector*);
  bool IsOfPoints();
  std::string NameOfArray();

  bool UsePatchIO = true;
};

#endif
