/**
 * @class vtkPatchReaderProperties
 * @brief the settings of a vtkPatchReader
 *
 * This header gives the meaning, range and default of each property; Plugin/Properties has the texts for
 * users of the GUI. A value outside its range becomes the nearest value inside the range.
 */
#ifndef vtkPatchReaderProperties_h
#define vtkPatchReaderProperties_h

#include "vtkMultiBlockDataSetAlgorithm.h"
#include "vtkPatchIOReadersModule.h"  // for the export macro

#include <string>  // for names

namespace patchio {
enum class IndexMode;
struct ReadRequest;
struct StepOptions;
}  // namespace patchio

class VTKPATCHIOREADERS_EXPORT vtkPatchReaderProperties : public vtkMultiBlockDataSetAlgorithm
{
public:
  vtkAbstractTypeMacro(vtkPatchReaderProperties, vtkMultiBlockDataSetAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  static constexpr int MaximumThreads = 256;
  static constexpr int MaximumConcurrency = 1 << 20;

  /// Makes the reader look at the files again at the next update.
  virtual void Reload() = 0;

  ///@{
  /**
   * The grids to show if the data have several: the name of a grid, "All" or "Automatic". "Automatic", the
   * default, is the grid whose values change from step to step, or else the grid with the most values. "All"
   * and "Automatic" ignore grids without a selected array. A name that the data do not have is an error.
   */
  vtkSetStdStringFromCharMacro(Grids);
  vtkGetCharFromStdStringMacro(Grids);
  ///@}

  ///@{
  /// Coarsest and finest level to read. Levels that a time step does not have are ignored. Default 0, 99.
  vtkSetVector2Macro(LevelRange, int);
  vtkGetVector2Macro(LevelRange, int);
  ///@}

  ///@{
  /// Marks the cells that the next finer level covers, if that level is shown. On by default.
  vtkSetMacro(BlankRefinedCells, bool);
  vtkGetMacro(BlankRefinedCells, bool);
  vtkBooleanMacro(BlankRefinedCells, bool);
  ///@}

  /// The part of space to read. The reader skips patches outside the region; a margin of one cell counts as
  /// part of a patch.
  enum Regions
  {
    EVERYTHING = 0,
    IN_BOX = 1,               ///< RegionBounds
    ON_PLANE_OF_INTEREST = 2  ///< RegionOrigin, RegionNormal
  };

  ///@{
  /**
   * The region, in the coordinates of the data: longitude and latitude for geographic grids. The region has
   * no effect on curvilinear grids, whose positions are not known before they are read, and on lists of
   * points. Cells under finer patches stay hidden, whether the finer patches are read or not. Default:
   * EVERYTHING.
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
   * Outputs the slice by the plane if Region is ON_PLANE_OF_INTEREST: a poly data for each level with the
   * polygons of this rank. Of each patch, only the cells near the plane are kept. Has no effect on meshes,
   * lists of points and grids on a sphere. Off by default.
   */
  vtkSetMacro(SliceWhileReading, bool);
  vtkGetMacro(SliceWhileReading, bool);
  vtkBooleanMacro(SliceWhileReading, bool);
  ///@}

  ///@{
  /**
   * Reads only patches that, according to the files, may have values of ValueArray within ValueRange, and the
   * neighbouring patches that an iso-surface of such a value needs. Works with scalars of SAMRAI and AMReX;
   * if the files do not have the ranges of values, the reader reads everything. Off by default.
   */
  vtkSetMacro(SkipByValue, bool);
  vtkGetMacro(SkipByValue, bool);
  vtkBooleanMacro(SkipByValue, bool);
  vtkSetStdStringFromCharMacro(ValueArray);
  vtkGetCharFromStdStringMacro(ValueArray);
  vtkSetVector2Macro(ValueRange, double);
  vtkGetVector2Macro(ValueRange, double);
  ///@}

  /// The ways to divide the data into grids of the output.
  enum BlockModes
  {
    AS_PATCHES = 0,      ///< one grid per patch
    MERGED = 1,          ///< boxes made of many patches of a level
    MERGED_UP_TO = 2,    ///< merged boxes of no more than MaximumBlockCells
    OVERLAPPING_AMR = 3  ///< one grid per patch, without ghost layers, in a vtkOverlappingAMR
  };

  ///@{
  /**
   * Merged blocks have the visible cells of their patches, with the same values. Where patches of a level
   * overlap or share a node, the patch with the lowest number gives the value; without merging, the cells of
   * the other patches are marked DUPLICATECELL. Cells of a block that no patch has are marked HIDDENCELL;
   * merged blocks lack some of the cells that a finer level hides. Curvilinear patches and patches with their
   * own ghost layers (ReadGhostCells) are never merged. Default: MERGED.
   */
  vtkSetClampMacro(Blocks, int, AS_PATCHES, OVERLAPPING_AMR);
  vtkGetMacro(Blocks, int);

  /**
   * Greatest number of cells of a block in the mode MERGED_UP_TO; a larger patch stays whole, or is cut where
   * a finer level begins. With several ranks the limit is lower in both merged modes, though not below 4096
   * cells, so that each rank gets some blocks. Default: 1000000.
   */
  vtkSetClampMacro(MaximumBlockCells, int, 1, VTK_INT_MAX);
  vtkGetMacro(MaximumBlockCells, int);
  ///@}

  ///@{
  /**
   * Adds one layer of cells to each grid on the sides where it has neighbours, with the neighbours' values:
   * from patches of the same level, else from coarser ones. The cells are marked DUPLICATECELL. Uniform grids
   * only. Has no effect while ReadGhostCells is on, and the report says so. Off by default.
   */
  vtkSetMacro(AddGhostLayer, bool);
  vtkGetMacro(AddGhostLayer, bool);
  vtkBooleanMacro(AddGhostLayer, bool);
  ///@}

  ///@{
  /**
   * Adds the cell arrays "level", "rank" (the rank that has read the cell), "patch id" (the global patch
   * number; -1 for cells without a patch) and "patch owner" (the rank that wrote the patch). If the data have
   * a variable of such a name, the added array gets an underscore at the end of its name. Off by default.
   */
  vtkSetMacro(AddPatchIds, bool);
  vtkGetMacro(AddPatchIds, bool);
  vtkBooleanMacro(AddPatchIds, bool);
  ///@}

  ///@{
  /**
   * Adds vectors whose components are variables of their own, such as x_velocity, y_velocity and z_velocity,
   * or ux, uy and uz, if all of them are selected. On by default.
   */
  vtkSetMacro(ComposeVectors, bool);
  vtkGetMacro(ComposeVectors, bool);
  vtkBooleanMacro(ComposeVectors, bool);
  ///@}

  /// The form of values at scattered grid points, such as those of k-Wave's index masks.
  enum PointForms
  {
    POINTS = 0,           ///< vtkPolyData with a vertex for each point
    POINTS_AS_IMAGE = 1,  ///< a vtkUniformGrid around the points
    POINTS_AUTOMATIC = 2  ///< an image if it has at most 4 cells per point, or a million
  };

  ///@{
  /**
   * The form of lists of points. In an image, cells without a value are HIDDENCELL and NaN (0 if the type is
   * an integer). The arrays of an image are cell data, those of points are point data. Default:
   * POINTS_AUTOMATIC.
   */
  vtkSetClampMacro(PointLists, int, POINTS, POINTS_AUTOMATIC);
  vtkGetMacro(PointLists, int);
  ///@}

  ///@{
  /**
   * Hides points that are undefined (NaN) in all arrays read for their block, and the cells around these
   * points. On by default.
   */
  vtkSetMacro(HideUndefined, bool);
  vtkGetMacro(HideUndefined, bool);
  vtkBooleanMacro(HideUndefined, bool);
  ///@}

  ///@{
  /**
   * Lets blocks lack arrays. Off: all blocks that are shown have the same arrays; where the patches of a
   * block lack a variable, its values are NaN, or 0 if they are integers. On: such blocks lack the array;
   * many of VTK's filters then drop the array everywhere, or crash. Off by default.
   */
  vtkSetMacro(PartialArrays, bool);
  vtkGetMacro(PartialArrays, bool);
  vtkBooleanMacro(PartialArrays, bool);
  ///@}

  enum Placements
  {
    ON_PLANE = 0,  ///< x is the longitude, y the latitude, both in degrees
    ON_SPHERE = 1  ///< a sphere of radius 180/pi, so that a degree of the equator has length 1 as well
  };

  ///@{
  /**
   * The placement of grids of longitudes and latitudes; other grids are not affected. On a sphere, grids
   * become vtkStructuredGrid. Default: ON_PLANE.
   */
  vtkSetClampMacro(Placement, int, ON_PLANE, ON_SPHERE);
  vtkGetMacro(Placement, int);
  ///@}

  ///@{
  /**
   * Keeps ghost layers that the file holds. All grids then grow by the largest ghost width among the selected
   * variables (curvilinear grids: by the ghost width of the coordinates); where a variable has fewer layers,
   * the nearest value repeats. Off by default.
   */
  vtkSetMacro(ReadGhostCells, bool);
  vtkGetMacro(ReadGhostCells, bool);
  vtkBooleanMacro(ReadGhostCells, bool);
  ///@}

  ///@{
  /**
   * Leaves out patches that cannot be read and shows the rest, with a warning. Off by default: a broken patch
   * is an error, and the output is empty.
   */
  vtkSetMacro(SkipBrokenPatches, bool);
  vtkGetMacro(SkipBrokenPatches, bool);
  vtkBooleanMacro(SkipBrokenPatches, bool);
  ///@}

  ///@{
  /// Compares the values of containers with their checksums. A patch whose values do not match counts as
  /// broken. Off by default.
  vtkSetMacro(VerifyValues, bool);
  vtkGetMacro(VerifyValues, bool);
  ///@}

  ///@{
  /// Shows only dumps that the series file (dumps.visit) lists, not the other dumps in its folder. Off by
  /// default.
  void SetListedDumpsOnly(bool on);
  vtkGetMacro(ListedDumpsOnly, bool);
  vtkBooleanMacro(ListedDumpsOnly, bool);
  ///@}

  /**
   * The use of index files: small files next to the data that store the locations of all values. Index files
   * are the grouped metadata of L. Cao et al., "Dual channel parallel I/O" (2015).
   */
  enum MetadataChannels
  {
    CHANNEL_OFF = 0,     ///< index files are neither read nor written
    CHANNEL_ON = 1,      ///< valid index files are read; missing and invalid ones are written
    CHANNEL_REBUILD = 2  ///< index files are written again, once for each step
  };

  ///@{
  /// The use of index files. Default: CHANNEL_ON.
  void SetMetadataChannel(int mode);
  vtkGetMacro(MetadataChannel, int);
  ///@}

  /// The source of NT, the number of I/O threads of a rank.
  enum ThreadModes
  {
    FIXED = 0,         ///< ThreadsPerRank
    FROM_STORAGE = 1,  ///< StorageConcurrency (N*) and OtherLoad (NC)
    AUTOMATIC = 2      ///< the profile of the storage and the speed of reads; see ThreadPolicy
  };

  ///@{
  /// The source of NT. Default: AUTOMATIC.
  vtkSetClampMacro(ThreadMode, int, FIXED, AUTOMATIC);
  vtkGetMacro(ThreadMode, int);
  ///@}

  /// The share of the storage that the mode AUTOMATIC takes while other programs use it, too. POLITE follows
  /// S. Liu et al., "Two Level Parallel Data Read Acceleration Method for Visualization in Scientific
  /// Computing" (2017).
  enum ThreadPolicies
  {
    POLITE = 0,    ///< N* - NC reads in flight from all ranks: other programs lose nothing
    BALANCED = 1,  ///< the fewest reads in flight that give nearly the best rate
    GREEDY = 2     ///< the number of reads in flight that gives the best rate
  };

  ///@{
  /// The policy of the mode AUTOMATIC. Default: BALANCED.
  vtkSetClampMacro(ThreadPolicy, int, POLITE, GREEDY);
  vtkGetMacro(ThreadPolicy, int);
  ///@}

  ///@{
  /// NT in mode FIXED, 1 to 256. NT may exceed the number of cores, because the threads wait for the storage.
  /// Default: 4.
  vtkSetClampMacro(ThreadsPerRank, int, 1, MaximumThreads);
  vtkGetMacro(ThreadsPerRank, int);
  ///@}

  ///@{
  /**
   * The numbers for the mode FROM_STORAGE: N*, the number of requests in flight from all ranks together at
   * which the storage is fastest, default 32; and NC, the number of requests that other programs keep in
   * flight there, default 0.
   */
  vtkSetClampMacro(StorageConcurrency, int, 1, MaximumConcurrency);
  vtkGetMacro(StorageConcurrency, int);
  vtkSetClampMacro(OtherLoad, int, 0, MaximumConcurrency);
  vtkGetMacro(OtherLoad, int);
  ///@}

  ///@{
  /**
   * The cost of one request to the storage: milliseconds before the first byte, and the rate in MB/s (10^6
   * bytes) of each of the requests that read at once. The reader also reads unwanted bytes between wanted
   * bytes if this takes less time than another request. Latency 0 to 10^6, default 0.02; bandwidth 0.001 to
   * 10^9, default 1000. NaN becomes the least value.
   */
  void SetStorageLatency(double milliseconds);
  vtkGetMacro(StorageLatency, double);
  void SetStorageBandwidth(double megabytesPerSecond);
  vtkGetMacro(StorageBandwidth, double);
  ///@}

  ///@{
  /**
   * Memory in MB (10^6 bytes) that the arrays of a rank may take, including arrays kept for other steps. 0,
   * the default: all free memory of the machine. A read that needs more is an error.
   */
  vtkSetClampMacro(MemoryLimit, int, 0, VTK_INT_MAX);
  vtkGetMacro(MemoryLimit, int);
  ///@}

  ///@{
  /**
   * While ParaView draws a step, reads up to PrefetchSteps of the next steps, in the direction and with the
   * stride of the last two displayed steps. These steps take up to half of the memory that is free and nine
   * tenths of MemoryLimit. Any change of the reader stops the prefetch. On by default, for 1 step.
   */
  vtkSetMacro(Prefetch, bool);
  vtkGetMacro(Prefetch, bool);
  vtkBooleanMacro(Prefetch, bool);
  vtkSetClampMacro(PrefetchSteps, int, 1, 100);
  vtkGetMacro(PrefetchSteps, int);
  ///@}

  ///@{
  /**
   * Memory of a rank in MB (10^6 bytes) for values of earlier reads that are no longer shown, so that these
   * values need not be read again. The reader first drops the values that were shown least recently. 0: no
   * cache. -1, the default: a quarter of the memory that the machine has free, divided by the ranks on it.
   * Reload() drops all values.
   */
  vtkSetClampMacro(CacheMemory, int, -1, VTK_INT_MAX);
  vtkGetMacro(CacheMemory, int);
  ///@}

  /**
   * The use of threads by VTK's filters in this process, from this reader's next update on. A backend of
   * vtkSMPTools that was chosen elsewhere stays. If there are several readers, the last updated one decides.
   */
  enum FilterThreadings
  {
    FILTERS_AS_SET = 0,  ///< ParaView's setting stays
    /// threads for ranks whose blocks have at least 100,000 cells on average; if VTK uses TBB, for all blocks
    FILTERS_LARGE_BLOCKS = 1,
    FILTERS_ALWAYS = 2
  };

  ///@{
  /// Selects when VTK's filters use threads. Default: FILTERS_LARGE_BLOCKS, because threads slow down slices
  /// and surfaces of small blocks.
  vtkSetClampMacro(FilterThreading, int, FILTERS_AS_SET, FILTERS_ALWAYS);
  vtkGetMacro(FilterThreading, int);

  /**
   * Threads of filters in each rank, up to 256; 0, the default: the cores of the machine, or the cores that
   * the rank is bound to, divided among the machine's ranks.
   */
  vtkSetClampMacro(FilterThreadsPerRank, int, 0, MaximumThreads);
  vtkGetMacro(FilterThreadsPerRank, int);
  ///@}

protected:
  vtkPatchReaderProperties() = default;
  ~vtkPatchReaderProperties() override = default;

  /// Returns a request with the values of the properties. Members that depend on the selected arrays, on the
  /// ranks and on VTK's request keep their defaults.
  patchio::ReadRequest RequestFromProperties() const;
  patchio::IndexMode IndexModeFromProperties() const;
  /// Returns whether the output is the slice of SetSliceWhileReading().
  bool GivesSlice() const { return this->SliceWhileReading && this->Region == ON_PLANE_OF_INTEREST; }
  /// Returns whether the user wants a vtkOverlappingAMR, and not a slice, which vtkOverlappingAMR cannot
  /// hold.
  bool WantsAmr() const { return this->Blocks == OVERLAPPING_AMR && !this->GivesSlice(); }

  std::string Grids = "Automatic";
  int LevelRange[2] = {0, 99};
  bool BlankRefinedCells = true;
  int Region = EVERYTHING;
  double RegionBounds[6] = {0, 1, 0, 1, 0, 1};
  double RegionOrigin[3] = {0, 0, 0};
  double RegionNormal[3] = {0, 0, 1};
  bool SliceWhileReading = false;
  bool SkipByValue = false;
  std::string ValueArray;
  double ValueRange[2] = {0, 0};
  int Blocks = MERGED;
  int MaximumBlockCells = 1000000;
  bool AddGhostLayer = false;
  bool AddPatchIds = false;
  bool ComposeVectors = true;
  int PointLists = POINTS_AUTOMATIC;
  bool HideUndefined = true;
  bool PartialArrays = false;
  int Placement = ON_PLANE;
  bool ReadGhostCells = false;
  bool SkipBrokenPatches = false;
  bool VerifyValues = false;
  bool ListedDumpsOnly = false;
  int MetadataChannel = CHANNEL_ON;
  int ThreadMode = AUTOMATIC;
  int ThreadPolicy = BALANCED;
  int ThreadsPerRank = 4;
  int StorageConcurrency = 32;
  int OtherLoad = 0;
  double StorageLatency = 0.02;
  double StorageBandwidth = 1000;
  int MemoryLimit = 0;
  bool Prefetch = true;
  int PrefetchSteps = 1;
  int CacheMemory = -1;
  int FilterThreading = FILTERS_LARGE_BLOCKS;
  int FilterThreadsPerRank = 0;

private:
  patchio::StepOptions OptionsFromProperties() const;

  vtkPatchReaderProperties(const vtkPatchReaderProperties&) = delete;
  void operator=(const vtkPatchReaderProperties&) = delete;

  void SetWithin(double& member, double value, double least, double most);
};

#endif
