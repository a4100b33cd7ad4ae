/**
 * @class vtkPatchReader
 * @brief Reads patch-based simulation output with several I/O threads on each MPI rank
 *
 * The output is a vtkMultiBlockDataSet with a vtkMultiPieceDataSet for each refinement level ("level 2", or
 * the name of the level). A level has a piece for each block: a box merged from patches ("46 patches, 12 to
 * 57") or a patch ("patch 17"), see SetBlocks(); "cuboid 3" in a level of separate boxes, "points 1 to 100"
 * for a list of points. All ranks have the same tree; a piece is null if its block belongs to another rank.
 * Uniform blocks are vtkUniformGrid, rectilinear blocks are vtkRectilinearGrid (on a sphere
 * vtkStructuredGrid), curvilinear blocks are vtkStructuredGrid, and meshes are vtkUnstructuredGrid or
 * vtkPolyData. See SetPointLists() for lists of points.
 *
 * With SetBlocks(OVERLAPPING_AMR), the output is a vtkOverlappingAMR of the patches. All ranks have the boxes
 * of all patches.
 *
 * With SliceWhileReading and the region ON_PLANE_OF_INTEREST, the output has a vtkPolyData for each level:
 * the polygons of this rank.
 *
 * While BlankRefinedCells is on, cells that a finer level covers are marked vtkDataSetAttributes::REFINEDCELL
 * and DUPLICATECELL. With AddGhostLayer or SkipByValue, such cells next to visible cells may be marked only
 * DUPLICATECELL; with SkipByValue, such cells may also be marked HIDDENCELL. Ghost layers, and cells that
 * another patch of the level shows, are marked DUPLICATECELL. Ghost cells outside all shown patches are also
 * marked HIDDENCELL.
 *
 * The root has the field data "time" and "step", and "date" if the data have a date. Each block has the field
 * data "level" and "rank", and "levels" if the vertical axis has labels (GrADS). A block also has the field
 * data "patch", the number of the patch in the level, if the block is a patch or a part of a patch, or a
 * whole box of a level of separate boxes (LevelRole::Separate).
 *
 * Reading is parallel on two levels, as in S. Liu et al., "Two Level Parallel Data Read Acceleration Method
 * for Visualization in Scientific Computing" (2017; sections on task generation, and figure 8).
 * UPDATE_PIECE_NUMBER divides the patches among the ranks. In each rank, all tasks <patch, variable> become
 * requests in file order, which NT threads process. The next read reuses the memory of the arrays (see
 * MemoryLimit).
 *
 * RequestDataObject, RequestInformation and RequestData are collective: every rank of the controller calls
 * them. The number of pieces may differ from the number of ranks: NT and the report refer to ranks, but the
 * division of the patches uses UPDATE_PIECE_NUMBER and UPDATE_NUMBER_OF_PIECES.
 *
 * If AbortExecute is set on any rank, the read ends within some tenths of a second with an empty output on
 * all ranks, and the reader resets AbortExecute. VTK then treats the output as up to date until the reader is
 * modified or another time is requested, so that later filters do not start the read again.
 *
 * Rank 0 reports each error once through vtkErrorMacro. After an error, the output is empty on all ranks.
 */
#ifndef vtkPatchReader_h
#define vtkPatchReader_h

#include "vtkPatchIOReadersModule.h"  // for the export macro
#include "vtkPatchReaderProperties.h"

#include <memory>  // for the implementation class
#include <string>  // for messages

namespace patchio {
struct LoadedStep;
struct ReadObserver;
struct ReadRequest;
}  // namespace patchio
class vtkDataArraySelection;
class vtkDataObject;
class vtkMultiProcessController;
class vtkStringArray;

class VTKPATCHIOREADERS_EXPORT vtkPatchReader : public vtkPatchReaderProperties
{
public:
  static vtkPatchReader* New();
  vtkTypeMacro(vtkPatchReader, vtkPatchReaderProperties);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * The files to open, for example a dumps.visit for a series or a summary.samrai for one dump. Several files
   * form one series, in ascending order of their steps.
   */
  void AddFileName(const char* name);
  void ClearFileNames();
  int GetNumberOfFileNames() const;
  const char* GetFileName(int index) const;

  /**
   * Returns 1 if a format recognizes the file by its name and first bytes, otherwise 0. Also returns 1 if the
   * file has a known name but is empty, truncated or overwritten, so that the user gets the message of this
   * reader.
   */
  int CanReadFile(const char* name);

  /**
   * The lists of the cell arrays and point arrays to read. RequestInformation() fills the lists. All arrays
   * are selected by default.
   */
  vtkDataArraySelection* GetCellArraySelection();
  vtkDataArraySelection* GetPointArraySelection();

  /**
   * Returns the possible values of the property Grids: "Automatic" and, if the data have several grids, the
   * names of the grids and "All".
   */
  vtkStringArray* GetGridNames();

  /**
   * Returns pairs of the name of a grid and the name of an array with values on this grid; empty if the data
   * have only one grid.
   */
  vtkStringArray* GetArraysOfGrids();

  /**
   * Returns the report of the last update (times, numbers of requests and bytes) as lines of text; empty
   * before the first update and after an update that failed. The numbers are the same on all ranks.
   */
  const char* GetIoReport() const;

  /**
   * Returns the report of the last update as JSON (see the user guide), with a summary of earlier reads;
   * empty before the first update. Only rank 0 returns the profile of the storage.
   */
  const char* GetIoReportData();

  ///@{
  /**
   * The facts about the data that RequestInformation() determines: the name of the format; the format whose
   * options the panel shows (for some containers, the format of other files with the same type of grids); the
   * numbers of the coarsest and of the finest level in all opened steps; the bounds of the domain in the
   * coordinates of the data (xmin, xmax, ymin ...; 0 to 1 for curvilinear grids and meshes); the names of the
   * scalars.
   */
  const char* GetFormatName() const;
  const char* GetLikeFormat() const;
  int* GetLevels() VTK_SIZEHINT(2);
  double* GetDomainBounds() VTK_SIZEHINT(6);
  vtkStringArray* GetScalarNames();
  ///@}

  /**
   * Returns the representation that ParaView should first use for the output of the last update: "Surface",
   * or "Outline" if a surface would take more than about 5 seconds.
   */
  const char* GetFirstPicture() const;

  void Reload() override;

  ///@{
  /**
   * On: the reader follows a growing series. Each UpdateInformation() then adds new steps, see
   * LookForNewSteps(). The reader omits the last step until the step is complete. Off by default. Setting
   * this property does not modify the reader.
   */
  void SetFollow(bool on) { this->Follow = on; }
  vtkGetMacro(Follow, bool);
  vtkBooleanMacro(Follow, bool);
  ///@}

  /**
   * Adds the new complete steps of the series to the reader if Follow is on. Returns whether the reader has
   * new steps. The reader is then modified, so that the next UpdateInformation() reports the new times, but
   * values that were read stay in memory. If the series has no new steps, this function only checks some
   * files. If the search fails, this function reports the error and returns false. The caller must not call
   * this function during an update. Collective: every rank of the controller calls it.
   */
  bool LookForNewSteps();

  /**
   * Calls LookForNewSteps(), then the function of the superclass. Collective: every rank of the controller
   * calls it.
   */
  void UpdateInformation() override;

  /**
   * Marks the reader as modified, and stops a prefetch (unless the reader itself is adding arrays to its
   * lists).
   */
  void Modified() override;

  /**
   * Sets the executive, and suppresses the executive's messages about failed requests, because the reader has
   * reported the errors.
   */
  void SetExecutive(vtkExecutive* executive) override;

  ///@{
  /**
   * The controller of the ranks that read together. Default: VTK's global controller.
   */
  void SetController(vtkMultiProcessController* controller);
  vtkMultiProcessController* GetController();
  ///@}

protected:
  vtkPatchReader();
  ~vtkPatchReader() override;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestInformation(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchReader(const vtkPatchReader&) = delete;
  void operator=(const vtkPatchReader&) = delete;

  void OnSelectionModified();
  void OnExecutiveError(vtkObject*, unsigned long, void* text);

  void Open();
  std::size_t RequestedStep(vtkInformation* info) const;
  bool ReadStep(std::size_t step, const patchio::ReadRequest& request, const patchio::ReadObserver& observer,
      vtkDataObject* output);
  void MakeOutput(patchio::LoadedStep& loaded, vtkDataObject* output);
  patchio::ReadRequest MakeReadRequest(vtkInformation* info);
  std::string ChooseFilterThreads(double cellsOfBlock) const;
  void ReportProgress(double fraction, const std::string& text);
  // Functions that report a warning or an error on rank 0. ReportWarning() does nothing if `text` is empty.
  void ReportWarning(const std::string& text);
  void ReportError(const std::string& text);

  bool Follow = false;
  struct Internals;
  std::unique_ptr<Internals> Internal;
};

#endif
