/**
 * @class vtkPatchReader
 * @brief reads patch-based simulation output with MPI ranks x I/O threads
 *
 * The output is a vtkMultiBlockDataSet with one block per refinement level ("level 2"), in it a
 * vtkMultiPieceDataSet with one piece per block: a box merged from patches ("46 patches, 12 to 57") or a
 * patch
 * ("patch 17"), see SetBlocks(). All ranks have the same tree; a piece is null where its block belongs to
 * another rank. Uniform blocks are vtkUniformGrid in double coordinates, rectilinear ones vtkRectilinearGrid,
 * curvilinear ones vtkStructuredGrid. Levels that have names are blocks of these names.
 * Cells that a finer level covers are marked vtkDataSetAttributes::REFINEDCELL and DUPLICATECELL (the latter
 * alone next to visible cells while AddGhostLayer is on), ghost layers, and cells of a patch that another
 * one of its level has, DUPLICATECELL; ghost layers HIDDENCELL too where no patch that is shown lies under
 * them.
 *
 * Field data: "time" and "step" at the root, "date" where the data have one; "level" and "rank" at each
 * block, and "patch" (its number within the level, as in the block's name) at blocks that are of one patch
 * only.
 *
 * Reading has two levels (the two-level parallel reading paper, sections on task generation and its
 * figure 8): patches are divided over the ranks by UPDATE_PIECE_NUMBER; within a rank all tasks <patch,
 * variable> become requests in file order, which NT threads take one after another. Arrays lie in memory that
 * is used again by the next read (see MemoryLimit).
 *
 * RequestInformation and RequestData are collective over the ranks of the controller. A piece need not be a
 * rank: NT and the report go by ranks, the patches by UPDATE_PIECE_NUMBER of UPDATE_NUMBER_OF_PIECES.
 *
 * A read that AbortExecute stops on any rank ends within some tenths of a second, with an empty output on
 * all, and the flag is taken back. VTK then counts the output as up to date until the reader is modified or
 * asked for another time, so that not each filter behind it begins the read again.
 *
 * Errors are reported on rank 0 through vtkErrorMacro, once, and leave the output empty on all ranks.
 */
#ifndef vtkPatchReader_h
#define vtkPatchReader_h

#include "vtkMultiBlockDataSetAlgorithm.h"
#include "vtkPatchIOReadersModule.h"  // for the export macro

#include <memory>  // for the implementation class
#include <string>  // for messages

namespace patchio {
class Catalog;
class PatchUpdate;
struct ThreadSettings;
struct UpdateOptions;
struct UpdateWishes;
}  // namespace patchio
class vtkDataArraySelection;
class vtkMultiProcessController;
class vtkStringArray;

class VTKPATCHIOREADERS_EXPORT vtkPatchReader : public vtkMultiBlockDataSetAlgorithm
{
public:
  static vtkPatchReader* New();
  vtkTypeMacro(vtkPatchReader, vtkMultiBlockDataSetAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * Files to open: a dumps.visit for a series, a summary.samrai for one dump. Several are joined into one
   * series, in ascending order of their steps.
   */
  void AddFileName(const char* name);
  void ClearFileNames();
  int GetNumberOfFileNames() const;
  const char* GetFileName(int index) const;

  /**
   * 1 when a format claims the file by its name and first bytes, or it has the name of one and is empty, cut
   * off or overwritten: a broken file should end in this reader's message.
   */
  int CanReadFile(const char* name);

  /**
   * Variables to read, by name. Filled by RequestInformation; all are on at first.
   */
  vtkDataArraySelection* GetCellArraySelection();
  vtkDataArraySelection* GetPointArraySelection();

  ///@{
  /**
   * Coarsest and finest level to read. Levels that a time step does not have are ignored. Default 0, 99.
   */
  vtkSetVector2Macro(LevelRange, int);
  vtkGetVector2Macro(LevelRange, int);
  ///@}

  ///@{
  /**
   * Keep ghost layers that the file holds. All grids then grow by the largest ghost width among the selected
   * variables (curvilinear grids: by that of the coordinates); where a variable has fewer layers, the
   * nearest value is repeated. Off by default.
   */
  vtkSetMacro(ReadGhostCells, bool);
  vtkGetMacro(ReadGhostCells, bool);
  vtkBooleanMacro(ReadGhostCells, bool);
  ///@}

  ///@{
  /**
   * Mark cells that are covered by the next finer level, if that level is shown. On by default.
   */
  vtkSetMacro(BlankRefinedCells, bool);
  vtkGetMacro(BlankRefinedCells, bool);
  vtkBooleanMacro(BlankRefinedCells, bool);
  ///@}

  /**
   * What becomes one grid of the output.
   */
  enum BlockModes
  {
    AS_PATCHES = 0,   ///< each patch
    MERGED = 1,       ///< boxes made of many patches of a level
    MERGED_UP_TO = 2  ///< the same, of no more than MaximumBlockCells
  };

  ///@{
  /**
   * Merged blocks have the same visible cells with the same values, but filters are much faster with few
   * large grids. Where patches differ about a node that they share, one of them gives its value. Cells of a
   * block that no patch has are marked HIDDENCELL; of cells that a finer level hides some are left out.
   * Where patches of a level overlap, the one with the lowest number gives the value; unmerged, cells of the
   * others are marked DUPLICATECELL. Curvilinear patches and patches with their own ghost layers
   * (ReadGhostCells) are never merged. Default MERGED.
   */
  vtkSetClampMacro(Blocks, int, AS_PATCHES, MERGED_UP_TO);
  vtkGetMacro(Blocks, int);
  ///@}

  ///@{
  /**
   * Most cells of a block in the mode MERGED_UP_TO; a patch that is larger stays whole, or is cut where a
   * finer level begins. Several ranks lower the limit in both merged modes, not below 4096 cells, so that
   * each gets some blocks. Default 1000000.
   */
  vtkSetClampMacro(MaximumBlockCells, int, 1, VTK_INT_MAX);
  vtkGetMacro(MaximumBlockCells, int);
  ///@}

  ///@{
  /**
   * Let each grid grow by one layer of cells with the values of its neighbours, on the sides where it has
   * some: patches of the same level, and where there are none, coarser ones. They are marked DUPLICATECELL,
   * so that contours fit together where blocks and ranks meet. Uniform grids only; without effect while
   * ReadGhostCells keeps the layers of the files, and the report says so. Off by default.
   */
  vtkSetMacro(AddGhostLayer, bool);
  vtkGetMacro(AddGhostLayer, bool);
  vtkBooleanMacro(AddGhostLayer, bool);
  ///@}

  ///@{
  /**
   * Add the cell arrays "level", "rank" (the rank that has read it), "patch id" (the global patch number; -1
   * where no patch is) and "patch owner" (the rank that wrote the patch). Variables of the dump keep such
   * names; then an underscore is added to ours. Off by default.
   */
  vtkSetMacro(AddPatchIds, bool);
  vtkGetMacro(AddPatchIds, bool);
  vtkBooleanMacro(AddPatchIds, bool);
  ///@}

  ///@{
  /**
   * Add vectors whose components are variables of their own, such as x_velocity, y_velocity and z_velocity,
   * or ux, uy and uz; where all of them are selected. On by default.
   */
  vtkSetMacro(ComposeVectors, bool);
  vtkGetMacro(ComposeVectors, bool);
  vtkBooleanMacro(ComposeVectors, bool);
  ///@}

  /**
   * What becomes of values at scattered grid points: k-Wave's index masks.
   */
  enum PointForms
  {
    POINTS = 0,           ///< vtkPolyData with a vertex for each
    POINTS_AS_IMAGE = 1,  ///< a vtkUniformGrid around them
    POINTS_AUTOMATIC = 2  ///< an image where it has at most 4 cells a point, or a million
  };

  ///@{
  /**
   * In an image, cells without a value are HIDDENCELL and not a number (0 where the type is an integer). Its
   * arrays are cell data, those of points are point data, and most filters find
   * nothing between points. Default POINTS_AUTOMATIC.
   */
  vtkSetClampMacro(PointLists, int, POINTS, POINTS_AUTOMATIC);
  vtkGetMacro(PointLists, int);
  ///@}

  ///@{
  /**
   * Hide points that are undefined (NaN) in all arrays that are read of their block, and the cells around
   * them. On by default.
   */
  vtkSetMacro(HideUndefined, bool);
  vtkGetMacro(HideUndefined, bool);
  vtkBooleanMacro(HideUndefined, bool);
  ///@}

  ///@{
  /**
   * Off: all blocks that are shown have the same arrays. Where the patches of a block lack a variable that
   * others have, its values are NaN there, and 0 if it is of integers. On: such blocks lack the array; many
   * of VTK's filters then leave it out everywhere or crash. Off by default.
   */
  vtkSetMacro(PartialArrays, bool);
  vtkGetMacro(PartialArrays, bool);
  vtkBooleanMacro(PartialArrays, bool);
  ///@}

  ///@{
  /**
   * Which grids are shown of data that have several, such as the domain and the sensor of k-Wave, or the
   * levels and the surface of GrADS: the name of one, "All", or "Automatic", the default: the one whose
   * values change from step to step, or else has most values, among those with a selected array. "Automatic"
   * and "All" leave out grids without a selected array. A name that the data do not have is an error.
   */
  vtkSetStdStringFromCharMacro(Grids);
  vtkGetCharFromStdStringMacro(Grids);
  ///@}
  /**
   * What Grids may be: "Automatic" and, where there are several grids, their names and "All".
   */
  vtkStringArray* GetGridNames();

  enum Placements
  {
    ON_PLANE = 0,  ///< x is the longitude, y the latitude, both in degrees
    ON_SPHERE = 1  ///< a sphere of radius 180/pi, so that a degree of the equator has length 1 as well
  };

  ///@{
  /**
   * Where grids of longitudes and latitudes are put; others are not affected. On a sphere they become
   * vtkStructuredGrid. Default ON_PLANE.
   */
  vtkSetClampMacro(Placement, int, ON_PLANE, ON_SPHERE);
  vtkGetMacro(Placement, int);
  ///@}

  ///@{
  /**
   * Show only dumps that the index file lists, not those found beside it. Off by default.
   */
  void SetListedDumpsOnly(bool on);
  vtkGetMacro(ListedDumpsOnly, bool);
  vtkBooleanMacro(ListedDumpsOnly, bool);
  ///@}

  ///@{
  /**
   * Leave out patches that cannot be read and show the rest, with a warning. Off by default: one broken patch
   * is an error and nothing is shown.
   */
  vtkSetMacro(SkipBrokenPatches, bool);
  vtkGetMacro(SkipBrokenPatches, bool);
  vtkBooleanMacro(SkipBrokenPatches, bool);
  ///@}

  /**
   * What is done with the sidecars that keep, beside the data, where everything lies in them (the
   * dual-channel paper, its grouped metadata).
   */
  enum MetadataChannels
  {
    CHANNEL_OFF = 0,     ///< neither read nor written
    CHANNEL_ON = 1,      ///< read where there are sound ones, else written
    CHANNEL_REBUILD = 2  ///< written anew, once a step
  };

  ///@{
  /**
   * Default CHANNEL_ON.
   */
  void SetMetadataChannel(int mode);
  vtkGetMacro(MetadataChannel, int);
  ///@}

  /**
   * Who decides on the number of I/O threads NT of a rank.
   */
  enum ThreadModes
  {
    FIXED = 0,         ///< ThreadsPerRank
    FROM_STORAGE = 1,  ///< from StorageConcurrency (N*) and OtherLoad (NC)
    AUTOMATIC = 2      ///< from the profile of the storage and from what reads show; see ThreadPolicy
  };

  ///@{
  /**
   * Default AUTOMATIC.
   */
  vtkSetClampMacro(ThreadMode, int, FIXED, AUTOMATIC);
  vtkGetMacro(ThreadMode, int);
  ///@}

  /**
   * How much of the storage the mode AUTOMATIC takes while others use it too.
   */
  enum ThreadPolicies
  {
    POLITE = 0,  ///< N* - NC reads in flight, all ranks together: others lose nothing (the two-level reading
                 ///< paper)
    BALANCED = 1,  ///< as few as give nearly the best rate
    GREEDY = 2     ///< whatever gives the best rate
  };

  ///@{
  /**
   * Default BALANCED.
   */
  vtkSetClampMacro(ThreadPolicy, int, POLITE, GREEDY);
  vtkGetMacro(ThreadPolicy, int);
  ///@}

  ///@{
  /**
   * NT in mode FIXED, 1 or more. May exceed the cores: the threads wait for storage. Default 4.
   */
  vtkSetClampMacro(ThreadsPerRank, int, 1, MaximumThreads);
  vtkGetMacro(ThreadsPerRank, int);
  ///@}

  ///@{
  /**
   * N*: the number of requests in flight, from all ranks together, at which the storage is fastest.
   * Default 32.
   */
  vtkSetClampMacro(StorageConcurrency, int, 1, MaximumConcurrency);
  vtkGetMacro(StorageConcurrency, int);
  ///@}

  ///@{
  /**
   * NC: the number of requests that everybody else keeps in flight on the same storage. Default 0.
   */
  vtkSetClampMacro(OtherLoad, int, 0, MaximumConcurrency);
  vtkGetMacro(OtherLoad, int);
  ///@}

  ///@{
  /**
   * What one request to the storage costs: milliseconds before the first byte, and the rate in MB/s
   * (10^6 bytes) of one request among as many as read at once. Unwanted bytes between wanted ones are read
   * along where that takes less time than another request. Default 0.02 ms and 1000 MB/s, a local disk.
   * Latency from 0 to 10^6, bandwidth from 0.001 to 10^9; what lies outside becomes the nearest of these, and
   * what is no number the least.
   */
  void SetStorageLatency(double milliseconds);
  vtkGetMacro(StorageLatency, double);
  void SetStorageBandwidth(double megabytesPerSecond);
  vtkGetMacro(StorageBandwidth, double);
  ///@}

  /**
   * Which part of space is of interest: patches that do not meet it, grown by one of their cells, are not
   * read.
   */
  enum Regions
  {
    EVERYTHING = 0,
    IN_BOX = 1,               ///< RegionBounds
    ON_PLANE_OF_INTEREST = 2  ///< RegionOrigin, RegionNormal
  };

  ///@{
  /**
   * Default EVERYTHING. In the coordinates of the data, longitude and latitude for geographic grids; without
   * effect on curvilinear grids, whose places are not known before they are read, and on lists of points.
   * Cells under finer patches stay hidden, whether these are read or not.
   */
  vtkSetClampMacro(Region, int, EVERYTHING, ON_PLANE_OF_INTEREST);
  vtkGetMacro(Region, int);
  vtkSetVector6Macro(RegionBounds, double);
  vtkGetVector6Macro(RegionBounds, double);
  vtkSetVector3Macro(RegionOrigin, double);
  vtkGetVector3Macro(RegionOrigin, double);
  vtkSetVector3Macro(RegionNormal, double);
  vtkGetVector3Macro(RegionNormal, double);
  ///@}

  ///@{
  /**
   * Leave out patches that have, by what the files say of them, no values of ValueArray within ValueRange and
   * do not touch one that has, nor lie between such below and above it: an iso-surface of a value in the
   * range comes out as from all patches. Default off. Scalars of SAMRAI and AMReX; where files do not say it,
   * everything is read.
   */
  vtkSetMacro(SkipByValue, bool);
  vtkGetMacro(SkipByValue, bool);
  vtkBooleanMacro(SkipByValue, bool);
  vtkSetStdStringFromCharMacro(ValueArray);
  vtkGetCharFromStdStringMacro(ValueArray);
  vtkSetVector2Macro(ValueRange, double);
  vtkGetVector2Macro(ValueRange, double);
  ///@}

  ///@{
  /**
   * MB (10^6 bytes) that the arrays of a rank may take, those kept for other steps included; 0, the
   * default, for as much as the machine has free; less than 0 counts as 0. A read that needs more is an
   * error.
   */
  vtkSetClampMacro(MemoryLimit, int, 0, VTK_INT_MAX);
  vtkGetMacro(MemoryLimit, int);
  ///@}

  ///@{
  /**
   * While the picture of a step is made, read those that come next: in the direction and at the distance of
   * the last two that were shown. They take memory too, up to half of what is free and nine tenths of
   * MemoryLimit, and wait where there is not as much. Any change of the reader stops it. On by default.
   */
  void SetPrefetch(bool on);
  vtkGetMacro(Prefetch, bool);
  vtkBooleanMacro(Prefetch, bool);
  ///@}

  ///@{
  /**
   * How many steps to read ahead at most. Default 1.
   */
  vtkSetClampMacro(PrefetchSteps, int, 1, 100);
  vtkGetMacro(PrefetchSteps, int);
  ///@}

  ///@{
  /**
   * MB (10^6 bytes) that values of earlier reads may take in a rank, besides what is shown: what they hold is
   * not read again. Variables and steps that were shown least recently give way first. -1, the default: a
   * quarter of what the machine has free, divided by the ranks on it; less counts as -1. 0: each update reads
   * everything. MemoryLimit holds for both together. Reload() forgets all.
   */
  vtkSetClampMacro(CacheMemory, int, -1, VTK_INT_MAX);
  vtkGetMacro(CacheMemory, int);
  ///@}

  /**
   * Whether VTK's filters get threads too, in this process and from this reader's next update on: by
   * vtkSMPTools' backend STDThread, where nobody has chosen another one than Sequential. The reader that was
   * updated last decides.
   */
  enum FilterThreadings
  {
    FILTERS_AS_SET = 0,        ///< filters stay as ParaView is set
    FILTERS_LARGE_BLOCKS = 1,  ///< threads where blocks have 100,000 cells and more, on the average of a rank
    FILTERS_ALWAYS = 2
  };

  ///@{
  /**
   * Default FILTERS_LARGE_BLOCKS: with smaller blocks slices and surfaces become slower.
   */
  vtkSetClampMacro(FilterThreading, int, FILTERS_AS_SET, FILTERS_ALWAYS);
  vtkGetMacro(FilterThreading, int);
  ///@}

  ///@{
  /**
   * Threads of filters in each rank, 1 or more; 0, the default, and less: the cores of the machine, or those
   * that the rank is bound to, divided among its ranks.
   */
  vtkSetClampMacro(FilterThreadsPerRank, int, 0, MaximumThreads);
  vtkGetMacro(FilterThreadsPerRank, int);
  ///@}

  /**
   * What the last update cost, as text in lines; empty before the first. The same on all ranks.
   */
  const char* GetIoReport() const;

  /**
   * The same in numbers, as JSON (see the user guide), and in short what the reads before it cost. Empty
   * before the first. Only rank 0 knows the profile of the storage.
   */
  const char* GetIoReportData();

  ///@{
  /**
   * What is known of the data once RequestInformation has run: the name of their format; the numbers of the
   * coarsest level and of the finest one in the steps that were opened so far; the bounds of the domain in
   * the coordinates of the data (xmin, xmax, ymin ..., 0 to 1 for curvilinear grids); the names of the
   * scalars.
   */
  const char* GetFormatName() const;
  int* GetLevels() VTK_SIZEHINT(2);
  double* GetDomainBounds() VTK_SIZEHINT(6);
  vtkStringArray* GetScalarNames();
  ///@}

  /**
   * How the output of the last update should be shown at first: "Surface", or "Outline" where a surface would
   * take ParaView more than some seconds.
   */
  const char* GetFirstPicture() const;

  /**
   * Look at the files again at the next update.
   */
  void Reload();

  /**
   * Stops what is read ahead, too.
   */
  void Modified() override;

  /**
   * What fails is said by the reader alone, not by VTK's executive too.
   */
  void SetExecutive(vtkExecutive* executive) override;

  ///@{
  /**
   * The ranks that read together. Default: the global controller.
   */
  void SetController(vtkMultiProcessController* controller);
  vtkMultiProcessController* GetController();
  ///@}

  static constexpr int MaximumThreads = 256;
  static constexpr int MaximumConcurrency = 1 << 20;

protected:
  vtkPatchReader();
  ~vtkPatchReader() override;

  int RequestInformation(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPatchReader(const vtkPatchReader&) = delete;
  void operator=(const vtkPatchReader&) = delete;

  void OnSelectionModified();
  void OnExecutiveError(vtkObject*, unsigned long, void* text);
  void SetWithin(double& member, double value, double least, double most);

  std::size_t WantedStep(vtkInformation* info) const;
  bool ReadStep(std::size_t step, const patchio::UpdateWishes& wishes, vtkMultiBlockDataSet* output);
  patchio::UpdateWishes Wishes(vtkInformation* info);
  patchio::ThreadSettings WantedThreads() const;
  patchio::UpdateOptions OptionsFor(const patchio::Catalog& catalog, vtkInformation* info) const;
  std::string ChooseFilterThreads(double cellsOfBlock) const;
  void ChooseFirstPicture(patchio::PatchUpdate& update);
  void Say(double fraction, const std::string& text);
  // These say it on rank 0; a warning only where the text is not empty.
  void Warn(const std::string& text);
  void Fail(const std::string& text);

  int LevelRange[2] = {0, 99};
  bool ReadGhostCells = false;
  bool BlankRefinedCells = true;
  bool ListedDumpsOnly = false;
  bool SkipBrokenPatches = false;
  int Blocks = MERGED;
  int MaximumBlockCells = 1000000;
  bool AddGhostLayer = false;
  bool AddPatchIds = false;
  bool ComposeVectors = true;
  int PointLists = POINTS_AUTOMATIC;
  bool HideUndefined = true;
  bool PartialArrays = false;
  std::string Grids = "Automatic";
  int Placement = ON_PLANE;
  int Region = EVERYTHING;
  double RegionBounds[6] = {0, 1, 0, 1, 0, 1};
  double RegionOrigin[3] = {0, 0, 0};
  double RegionNormal[3] = {0, 0, 1};
  bool SkipByValue = false;
  std::string ValueArray;
  double ValueRange[2] = {0, 0};
  int MetadataChannel = CHANNEL_ON;
  int ThreadMode = AUTOMATIC;
  int ThreadPolicy = BALANCED;
  int ThreadsPerRank = 4;
  int StorageConcurrency = 32;
  int OtherLoad = 0;
  double StorageLatency = 0.02;
  double StorageBandwidth = 1000;
  int MemoryLimit = 0;
  int FilterThreading = FILTERS_LARGE_BLOCKS;
  int FilterThreadsPerRank = 0;
  bool Prefetch = true;
  int PrefetchSteps = 1;
  int CacheMemory = -1;

  struct Internals;
  std::unique_ptr<Internals> Internal;
};

#endif
