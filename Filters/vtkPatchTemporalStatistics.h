/**
 * @class vtkPatchTemporalStatistics
 * @brief Temporal Statistics that ends with a message if blocks change from one time step to another
 *
 * vtkTemporalStatistics adds up the values of each cell and point over all time steps. If a step has a block
 * that the first step does not have, VTK reads beyond the end of its tree, and ParaView crashes. If blocks of
 * the same size have moved, VTK adds values at different positions. So this filter compares the blocks of
 * each step with the blocks of the first step, on all ranks: positions in the tree, types of grids, sizes and
 * bounds. (The bounds of grids with explicit points may change.) If the blocks differ, the filter reports the
 * difference, outputs no data and reads no more steps. This filter also merges the flags of hidden cells and
 * points, which VTK would treat as values: a cell of the output is hidden if the cell is hidden at any step.
 *
 * While the plugin is loaded, ParaView's Temporal Statistics is this class (ReplacedFilters.xml).
 */
#ifndef vtkPatchTemporalStatistics_h
#define vtkPatchTemporalStatistics_h

#include "vtkPatchIOFiltersModule.h"  // for the export macro
#include "vtkTemporalStatistics.h"
#include "vtkVersionMacros.h"

class VTKPATCHIOFILTERS_EXPORT vtkPatchTemporalStatistics : public vtkTemporalStatistics
{
public:
  static vtkPatchTemporalStatistics* New();
  vtkTypeMacro(vtkPatchTemporalStatistics, vtkTemporalStatistics);

protected:
  vtkPatchTemporalStatistics() = default;
  ~vtkPatchTemporalStatistics() override = default;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  void InitializeArray(vtkDataArray* array, vtkFieldData* outFd) override;
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 3, 0)
  void AccumulateArrays(vtkFieldData* inFd, vtkFieldData* outFd) override;
#else
  void AccumulateArrays(vtkFieldData* inFd, vtkFieldData* outFd, int currentTimeIndex) override;
#endif

private:
  /// Compares the blocks of the current step, `current`, with the blocks of the first step, `first`. Returns
  /// true if the blocks are the same. Otherwise rank 0 reports the difference as an error, and all ranks
  /// return false. Collective: every rank of the global controller calls it.
  bool CheckBlocks(vtkCompositeDataSet* first, vtkCompositeDataSet* current);

  vtkPatchTemporalStatistics(const vtkPatchTemporalStatistics&) = delete;
  void operator=(const vtkPatchTemporalStatistics&) = delete;
};

#endif
