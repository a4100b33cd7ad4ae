/**
 * @class vtkPatchReader
 * @brief reads patch-based simulation output with MPI ranks x I/O threads
 *
 * The output is a vtkMultiBlockDataSet with one block per refinement level ("level 2"), in it a
 * vtkMultiPieceDataSet with one piece per block: a box merged from patches ("46 patches, 12 to 57") or a
 * patch ("patch 17"), see SetBlocks(). All ranks have the same tree; a piece is null if its block belongs to
 * another rank. Uniform blocks are vtkUniformGrid in double coordinates, rectilinear ones vtkRectilinearGrid,
 * curvilinear ones vtkStructuredGrid. Levels that have names are blocks of these names.
 *
 * With SetBlocks(OVERLAPPING_AMR) the output is a vtkOverlappingAMR of the patches, whose boxes all ranks
 * have.
 *
 * With SliceWhileReading, the blocks of the levels are vtkPolyData instead: the polygons of this rank.
 *
 * Cells that a finer level covers are marked vtkDataSetAttributes::REFINEDCELL and DUPLICATECELL (only
 * DUPLICATECELL next to visible cells while AddGhostLayer is on). Ghost layers, and cells that another patch
 * of the level has too, are marked DUPLICATECELL. Ghost layers over no shown patch are also marked
 * HIDDENCELL.
 *
 * Field data: "time" and "step" at the root, "date" where the data have one; "level" and "rank" at each
 * block, and "patch" (its number within the level, as in the block's name) at blocks of a single patch or of
 * a whole box that lies next to other boxes (LevelRole::Separate).
 *
 * Reading has two levels, as in S. Liu et al., "Two Level Parallel Data Read Acceleration Method for
 * Visualization in Scientific Computing" (2017; its sections on task generation, and its figure 8): patches
 * are divided over the ranks by UPDATE_PIECE_NUMBER; within a rank all tasks <patch, variable> become
 * requests in file order, which NT threads take one after another. The next read reuses the memory of the
 * arrays (see MemoryLimit).
 *
 * RequestInformation and RequestData are collective: every rank of the controller calls them. The number of
 * pieces may differ from the number of ranks: NT and the report refer to ranks, the division of patches to
 * UPDATE_PIECE_NUMBER and UPDATE_NUMBER_OF_PIECES.
 *
 * If AbortExecute is set on any rank, the read ends within some tenths of a second with an empty output on
 * all ranks, and the reader resets the flag. VTK then treats the output as up to date until the reader is
 * modified or another time is requested, so that later filters do not begin the read again.
 *
 * Errors are reported on rank 0 through vtkErrorMacro, once, and leave the output empty on all ranks.
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
   * Files to open: a dumps.visit for a series, a summary.samrai for one dump. Several files are joined into
   * one series, in ascending order of their steps.
   */
  void AddFileName(const char* name);
  void ClearFileNames();
  int GetNumberOfFileNames() const;
  const char* GetFileName(int index) const;

  /**
   * Returns 1 if a format recognizes the file by its name and first bytes. Also returns 1 if the file has a
   * known name but is empty, truncated or overwritten, so that the user gets this reader's message.
   */
  int CanReadFile(const char* name);

  /**
   * The variables to read, by name. RequestInformation fills the lists; all are on at first.
   */
  vtkDataArraySelection* GetCellArraySelection();
  vtkDataArraySelection* GetPointArraySelection();

  /**
   * Returns the values that the property Grids may have: "Automatic" and, if there are several grids, their
   * names and "All".
   */
  vtkStringArray* GetGridNames();

  /**
   * Returns pairs of a grid's name and the name of an array that has values on this grid; empty if there is
   * only one grid.
   */
  vtkStringArray* GetArraysOfGrids();

  /**
   * Returns the cost of the last update, as lines of text; empty before the first update. All ranks return
   * the same text.
   */
  const char* GetIoReport() const;

  /**
   * Returns the cost of the last update in numbers, as JSON (see the user guide), with a summary of earlier
   * reads; empty before the first update. Only rank 0 knows the profile of the storage.
   */
  const char* GetIoReportData();

  ///@{
  /**
   * The facts about the data that are known once RequestInformation has run: the name of their format; the
   * format whose options the panel offers (for some containers, that of other files with the same kind of
   * grids); the numbers of the coarsest level and of the finest one in the steps that were opened so far; the
   * bounds of the domain in the coordinates of the data (xmin, xmax, ymin ..., 0 to 1 for curvilinear grids);
   * the names of the scalars.
   */
  const char* GetFormatName() const;
  const char* GetLikeFormat() const;
  int* GetLevels() VTK_SIZEHINT(2);
  double* GetDomainBounds() VTK_SIZEHINT(6);
  vtkStringArray* GetScalarNames();
  ///@}

  /**
   * Returns how the output of the last update should first be shown: "Surface", or "Outline" if a surface
   * would take ParaView more than some seconds.
   */
  const char* GetFirstPicture() const;

  void Reload() override;

  ///@{
  /**
   * Follows a growing series: each UpdateInformation() looks for new steps. The reader omits the last step
   * until it is complete. Off by default. Setting this property does not modify the reader.
   */
  void SetFollow(bool on) { this->Follow = on; }
  vtkGetMacro(Follow, bool);
  vtkBooleanMacro(Follow, bool);
  ///@}

  /**
   * While Follow is on, adds the complete steps that have appeared since the series was opened, and returns
   * whether there are any. The reader then counts as modified, so that the next UpdateInformation() reports
   * the new times; values that were read stay in memory. Without new steps, the call only checks some files.
   * Do not call it during an update. Collective: every rank of the controller calls it.
   */
  bool LookForNewSteps();

  /**
   * Calls LookForNewSteps() first. Collective: every rank of the controller calls it.
   */
  void UpdateInformation() override;

  /**
   * Marks the reader as modified, and stops the prefetch.
   */
  void Modified() override;

  /**
   * Suppresses the executive's messages about failed requests: the reader has reported the errors.
   */
  void SetExecutive(vtkExecutive* executive) override;

  ///@{
  /**
   * The controller of the ranks that read together. Default: the global controller.
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
  std::size_t WantedStep(vtkInformation* info) const;
  bool ReadStep(std::size_t step, const patchio::ReadRequest& request, const patchio::ReadObserver& observer,
      vtkDataObject* output);
  void MakeOutput(patchio::LoadedStep& loaded, vtkDataObject* output);
  patchio::ReadRequest RequestFor(vtkInformation* info);
  std::string ChooseFilterThreads(double cellsOfBlock) const;
  void ShowProgress(double fraction, const std::string& text);
  // Report on rank 0. Warn() ignores an empty text.
  void Warn(const std::string& text);
  void Fail(const std::string& text);

  bool Follow = false;
  struct Internals;
  std::unique_ptr<Internals> Internal;
};

#endif
