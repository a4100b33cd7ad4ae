/**
 * @class vtkPatchTemporalStatistics
 * @brief Temporal Statistics that ends in a message where the blocks change from time step to time step
 *
 * vtkTemporalStatistics adds up the values of each cell and point over all time steps. Where the data are in
 * blocks and a step has one that the first step has not, VTK leaves its tree, and ParaView crashes. Where
 * blocks of the same size have moved, it mixes values of different places. So this filter compares the blocks
 * of each step with those of the first, on all ranks: same places in the tree, kinds of grids and sizes, and
 * the same bounds, except of grids with points of their own, which may move. Where they differ it says how,
 * gives no data and reads no further steps. Besides, it keeps the flags of hidden cells and points, which VTK
 * takes for values: hidden is what is hidden at any step.
 *
 * ParaView's Temporal Statistics is this class while the plugin is loaded (TemporalStatistics.xml).
 */
#ifndef vtkPatchTemporalStatistics_h
#define vtkPatchTemporalStatistics_h

#include "vtkPatchIOServerModule.h"  // for the export macro
#include "vtkTemporalStatistics.h"

class VTKPATCHIOSERVER_EXPORT vtkPatchTemporalStatistics : public vtkTemporalStatistics
{
public:
  static vtkPatchTemporalStatistics* New();
  vtkTypeMacro(vtkPatchTemporalStatistics, vtkTemporalStatistics);

protected:
  vtkPatchTemporalStatistics() = default;
  ~vtkPatchTemporalStatistics() override = default;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  void InitializeArray(vtkDataArray* array, vtkFieldData* outFd) override;
  void AccumulateArrays(vtkFieldData* inFd, vtkFieldData* outFd) override;

private:
  /// Collective. first: of the first step. Has said what differs where it is false.
  bool HasBlocksOf(vtkCompositeDataSet* first, vtkCompositeDataSet* now);

  vtkPatchTemporalStatistics(const vtkPatchTemporalStatistics&) = delete;
  void operator=(const vtkPatchTemporalStatistics&) = delete;
};

#endif
