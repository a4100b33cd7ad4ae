/**
 * @class vtkPatchReaderProperties
 * @brief The properties of vtkPatchReader
 *
 * This header gives the meaning, the range and the default of each property; Plugin/Properties has the texts
 * for users of the GUI. A value outside the range of its property becomes the nearest value inside the range.
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

  /// Makes the reader open the files again at the next update, and drops all values that were read.
  virtual void Reload() = 0;

  ///@{
  /**
   * The grids to show if the data have several grids: the name of a grid, "All" or "Automatic". "Automatic",
   * the default, is the grid with the most selected values among the grids whose values change from step to
   * step, or among all grids if no values change. "All" and "Automatic" ignore grids that have arrays but no
   * selected array, unless no grid has a selected array. "All" includes grids without arrays, such as lists
   * of points. If the data have no grid of the name, the update fails with an error.
   */
  vtkSetStdStringFromCharMacro(Grids);
  vtkGetCharFromStdStringMacro(Grids);
  ///@}

  ///@{
  /// The coarsest and the finest level to read. Levels that a time step does not have are ignored. Default:
  /// 0, 99.
  vtkSetVector2Macro(LevelRange, int);
  vtkGetVector2Macro(LevelRange, int);
  ///@}

  ///@{
  /// On: marks the cells that the next finer level covers, if the finer level is shown. On by default.
  vtkSetMacro(BlankRefinedCells, bool);
  vtkGetMacro(BlankRefinedCells, bool);
  vtkBooleanMacro(BlankRefinedCells, bool);
  ///@}

  /// The region to read. The reader skips patches outside the region; a margin of one cell counts as part of
  /// a patch.
  enum Regions
  {
    EVERYTHING = 0,           ///< no limits
    IN_BOX = 1,               ///< the box RegionBounds (xmin, xmax, ymin ...)
    ON_PLANE_OF_INTEREST = 2  ///< the plane through RegionOrigin with the normal RegionNormal
  };

  ///@{
  /**
   * The region, in the coordinates of the data: longitude and latitude for geographic grids. The region has
   * no effect on lists of points, curvilinear grids and meshes, whose positions are known only after reading.
   * Cells under finer patches stay hidden, even if the finer patches are not read. Default: EVERYTHING.
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
   * On: if Region is ON_PLANE_OF_INTEREST, outputs the slice by the plane: a poly data for each level with
   * the polygons of this rank. The reader then stores only the cells of each patch near the plane (but all
   * cells of curvilinear grids). Has no effect on meshes, lists of points and grids on a sphere. Off by
   * default.
   */
  vtkSetMacro(SliceWhileReading, bool);
  vtkGetMacro(SliceWhileReading, bool);
  vtkBooleanMacro(SliceWhileReading, bool);
  ///@}

  ///@{
  /**
   * On: reads only the patches that may have values of ValueArray in ValueRange, according to the ranges in
   * the files, and the neighbouring patches that an iso-surface at such a value needs. Works with scalars of
   * SAMRAI, AMReX and containers. If the files do not have the ranges of values, the reader reads all
   * patches. Off by default.
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
   * The way to divide the data into grids. Merged blocks have the visible cells of their patches, with the
   * same values. Where patches of a level overlap or share a node, the value of the patch with the lowest
   * number is used; without merging, the cells of the other patches are marked DUPLICATECELL. Cells of a
   * block that no patch has are marked HIDDENCELL. Merged blocks lack some of the cells that a finer level
   * hides. The reader does not merge curvilinear patches, meshes, and patches with ghost layers from the
   * files (ReadGhostCells). Default: MERGED.
   */
  vtkSetClampMacro(Blocks, int, AS_PATCHES, OVERLAPPING_AMR);
  vtkGetMacro(Blocks, int);

  /**
   * The greatest number of cells of a block in the mode MERGED_UP_TO. A larger patch stays whole, or is cut
   * where a finer level begins. With several ranks, both merged modes also limit a block to a quarter of a
   * rank's share of the cells, or to 4096 cells if this is more, so that each rank gets some blocks. Default:
   * 1000000.
   */
  vtkSetClampMacro(MaximumBlockCells, int, 1, VTK_INT_MAX);
  vtkGetMacro(MaximumBlockCells, int);
  ///@}

  ///@{
  /**
   * On: adds a layer of cells to each grid on the sides where the grid has neighbours, with the neighbours'
   * values: from patches of the same level, otherwise from patches of coarser levels. The added cells are
   * marked DUPLICATECELL. Applies only to uniform grids. Has no effect in the mode OVERLAPPING_AMR, nor while
   * ReadGhostCells is on (the report then has a note). Off by default.
   */
  vtkSetMacro(AddGhostLayer, bool);
  vtkGetMacro(AddGhostLayer, bool);
  vtkBooleanMacro(AddGhostLayer, bool);
  ///@}

  ///@{
  /**
   * On: adds the cell arrays "level", "rank" (the rank that has read the cell), "patch id" (the global number
   * of the patch) and "patch owner" (the rank that has written the patch). "patch id" and "patch owner" are
   * -1 for ghost cells, cells that another patch shows and cells without a patch. If the data have a variable
   * of the same name, the name of the added array ends with an underscore. Off by default.
   */
  vtkSetMacro(AddPatchIds, bool);
  vtkGetMacro(AddPatchIds, bool);
  vtkBooleanMacro(AddPatchIds, bool);
  ///@}

  ///@{
  /**
   * On: adds vectors whose components are separate variables, such as x_velocity, y_velocity and z_velocity,
   * or ux, uy and uz, if all components are selected. Has no effect on grids on a sphere. On by default.
   */
  vtkSetMacro(ComposeVectors, bool);
  vtkGetMacro(ComposeVectors, bool);
  vtkBooleanMacro(ComposeVectors, bool);
  ///@}

  /// The form of values at scattered grid points, for example at the points of k-Wave's index masks.
  enum PointForms
  {
    POINTS = 0,           ///< vtkPolyData with a vertex for each point
    POINTS_AS_IMAGE = 1,  ///< a vtkUniformGrid around the points
    POINTS_AUTOMATIC = 2  ///< images if they have at most 4 cells per point, or at most 2^20 cells
  };

  ///@{
  /**
   * The form of lists of points. In an image, cells without a value are HIDDENCELL and NaN (0 if the type is
   * an integer). The arrays of an image are cell data, and the arrays of a vtkPolyData are point data.
   * Default: POINTS_AUTOMATIC.
   */
  vtkSetClampMacro(PointLists, int, POINTS, POINTS_AUTOMATIC);
  vtkGetMacro(PointLists, int);
  ///@}

  ///@{
  /**
   * On: hides the points of a rectilinear grid that are undefined (NaN) in all point arrays that are read for
   * the grid, and the cells around these points. On by default.
   */
  vtkSetMacro(HideUndefined, bool);
  vtkGetMacro(HideUndefined, bool);
  vtkBooleanMacro(HideUndefined, bool);
  ///@}

  ///@{
  /**
   * Off: all blocks have the same arrays. If the patches of a block lack a variable, the values in the block
   * are NaN, or 0 for integers. On: blocks lack the arrays of variables that their patches lack; many of
   * VTK's filters then drop these arrays from all blocks, or crash. Off by default.
   */
  vtkSetMacro(PartialArrays, bool);
  vtkGetMacro(PartialArrays, bool);
  vtkBooleanMacro(PartialArrays, bool);
  ///@}

  /// The placement of grids of longitudes and latitudes.
  enum Placements
  {
    ON_PLANE = 0,  ///< x is the longitude and y is the latitude, in degrees
    ON_SPHERE = 1  ///< a sphere of the radius 180/pi, so that a degree of the equator has the length 1, as on
                   ///< the plane
  };

  ///@{
  /**
   * The placement of grids of longitudes and latitudes. Has no effect on other grids. On a sphere, the grids
   * are vtkStructuredGrid. Default: ON_PLANE.
   */
  vtkSetClampMacro(Placement, int, ON_PLANE, ON_SPHERE);
  vtkGetMacro(Placement, int);
  ///@}

  ///@{
  /**
   * On: reads the ghost layers in the files. All grids then grow by the greatest ghost width of the selected
   * variables, and curvilinear grids grow by the ghost width of the coordinates. If a variable has fewer
   * layers, its nearest value repeats. Has no effect in the mode OVERLAPPING_AMR. Off by default.
   */
  vtkSetMacro(ReadGhostCells, bool);
  vtkGetMacro(ReadGhostCells, bool);
  vtkBooleanMacro(ReadGhostCells, bool);
  ///@}

  ///@{
  /**
   * On: omits patches that the reader cannot read, with a warning. Off: a broken patch is an error, and the
   * output is empty. Off by default.
   */
  vtkSetMacro(SkipBrokenPatches, bool);
  vtkGetMacro(SkipBrokenPatches, bool);
  vtkBooleanMacro(SkipBrokenPatches, bool);
  ///@}

  ///@{
  /// On: compares the values of containers with their checksums, and the boxes of AMReX's patches with the
  /// headers before the values. A patch that does not match counts as broken. Off by default.
  vtkSetMacro(VerifyValues, bool);
  vtkGetMacro(VerifyValues, bool);
  ///@}

  ///@{
  /// On: shows only the dumps that the series file (dumps.visit) lists, or only the opened plotfile. Off:
  /// also shows the other dumps or plotfiles of the same folder. Off by default.
  void SetListedDumpsOnly(bool on);
  vtkGetMacro(ListedDumpsOnly, bool);
  vtkBooleanMacro(ListedDumpsOnly, bool);
  ///@}

  /**
   * The use of index files: small files next to the data that store the locations of all values. Index files
   * follow the grouped metadata of L. Cao et al., "Dual channel parallel I/O" (2015).
   */
  enum MetadataChannels
  {
    CHANNEL_OFF = 0,     ///< the reader neither reads nor writes index files
    CHANNEL_ON = 1,      ///< the reader reads valid index files, and writes missing and invalid index files
    CHANNEL_REBUILD = 2  ///< the reader writes all index files again, once for each step
  };

  ///@{
  /// The use of index files. Default: CHANNEL_ON.
  void SetMetadataChannel(int mode);
  vtkGetMacro(MetadataChannel, int);
  ///@}

  /// The source of NT, the number of I/O threads of a rank.
  enum ThreadModes
  {
    FIXED = 0,         ///< the property ThreadsPerRank
    FROM_STORAGE = 1,  ///< the properties StorageConcurrency (N*) and OtherLoad (NC)
    AUTOMATIC = 2      ///< the profile of the storage and the measured rate of reads; see ThreadPolicy
  };

  ///@{
  /// The source of NT. Default: AUTOMATIC.
  vtkSetClampMacro(ThreadMode, int, FIXED, AUTOMATIC);
  vtkGetMacro(ThreadMode, int);
  ///@}

  /// The share of the storage that the mode AUTOMATIC uses while other programs also use the storage. POLITE
  /// follows S. Liu et al., "Two Level Parallel Data Read Acceleration Method for Visualization in Scientific
  /// Computing" (2017).
  enum ThreadPolicies
  {
    POLITE = 0,    ///< N* - NC reads in flight from all ranks, so that other programs stay as fast as without
                   ///< the reader
    BALANCED = 1,  ///< the least number of reads in flight with nearly the best rate
    GREEDY = 2     ///< the number of reads in flight with the best rate
  };

  ///@{
  /// The policy of the mode AUTOMATIC. Default: BALANCED.
  vtkSetClampMacro(ThreadPolicy, int, POLITE, GREEDY);
  vtkGetMacro(ThreadPolicy, int);
  ///@}

  ///@{
  /// NT in the mode FIXED, from 1 to 256. NT may exceed the number of cores, because the threads wait for the
  /// storage. Default: 4.
  vtkSetClampMacro(ThreadsPerRank, int, 1, MaximumThreads);
  vtkGetMacro(ThreadsPerRank, int);
  ///@}

  ///@{
  /**
   * The numbers for the mode FROM_STORAGE: StorageConcurrency is N*, the number of requests in flight from
   * all ranks together at which the storage is fastest, default 32. OtherLoad is NC, the number of requests
   * that other programs have in flight on the storage, default 0.
   */
  vtkSetClampMacro(StorageConcurrency, int, 1, MaximumConcurrency);
  vtkGetMacro(StorageConcurrency, int);
  vtkSetClampMacro(OtherLoad, int, 0, MaximumConcurrency);
  vtkGetMacro(OtherLoad, int);
  ///@}

  ///@{
  /**
   * The cost of a request to the storage: the time before the first byte in milliseconds, and the rate of
   * each concurrent request in MB/s (10^6 bytes). The reader reads a gap between requested bytes if this
   * takes less time than another request. The latency is 0 to 10^6, default 0.02. The bandwidth is 0.001 to
   * 10^9, default 1000. NaN becomes the least value.
   */
  void SetStorageLatency(double milliseconds);
  vtkGetMacro(StorageLatency, double);
  void SetStorageBandwidth(double megabytesPerSecond);
  vtkGetMacro(StorageBandwidth, double);
  ///@}

  ///@{
  /**
   * The memory limit in MB (10^6 bytes) for the arrays of a rank, including the arrays of other steps in the
   * cache. 0, the default: all free memory of the machine. A read that needs more memory fails with an error.
   */
  vtkSetClampMacro(MemoryLimit, int, 0, VTK_INT_MAX);
  vtkGetMacro(MemoryLimit, int);
  ///@}

  ///@{
  /**
   * On: while ParaView draws a step, reads up to PrefetchSteps of the next steps, in the direction and with
   * the stride of the last two displayed steps. Each of these steps uses at most half of the free memory, and
   * all arrays of the reader then use at most nine tenths of MemoryLimit. Any change of the reader stops the
   * prefetch. On by default, for 1 step.
   */
  vtkSetMacro(Prefetch, bool);
  vtkGetMacro(Prefetch, bool);
  vtkBooleanMacro(Prefetch, bool);
  vtkSetClampMacro(PrefetchSteps, int, 1, 100);
  vtkGetMacro(PrefetchSteps, int);
  ///@}

  ///@{
  /**
   * The memory of a rank in MB (10^6 bytes) for a cache of the values of earlier reads that are no longer
   * displayed. The reader first drops the values that were displayed least recently. 0: no cache. -1, the
   * default: a quarter of the free memory of the machine, divided by the number of ranks on the machine.
   * Reload() drops all values.
   */
  vtkSetClampMacro(CacheMemory, int, -1, VTK_INT_MAX);
  vtkGetMacro(CacheMemory, int);
  ///@}

  /**
   * The use of threads by VTK's filters in this process, from the next update of this reader on. The reader
   * keeps a backend of vtkSMPTools that other code has selected. With several readers, the setting of the
   * last updated reader applies.
   */
  enum FilterThreadings
  {
    FILTERS_AS_SET = 0,  ///< ParaView's setting stays
    /// filters use threads if the blocks of the rank have at least 100,000 cells on average, or if VTK uses
    /// TBB
    FILTERS_LARGE_BLOCKS = 1,
    FILTERS_ALWAYS = 2  ///< filters always use threads
  };

  ///@{
  /// The condition on which VTK's filters use threads. Default: FILTERS_LARGE_BLOCKS, because threads slow
  /// down slices and surfaces of small blocks.
  vtkSetClampMacro(FilterThreading, int, FILTERS_AS_SET, FILTERS_ALWAYS);
  vtkGetMacro(FilterThreading, int);

  /**
   * The number of threads of VTK's filters in each rank, at most 256. 0, the default: the rank's share of the
   * cores of the machine, or of the cores that the rank is bound to.
   */
  vtkSetClampMacro(FilterThreadsPerRank, int, 0, MaximumThreads);
  vtkGetMacro(FilterThreadsPerRank, int);
  ///@}

protected:
  vtkPatchReaderProperties() = default;
  ~vtkPatchReaderProperties() override = default;

  /// Returns a read request with the values of the properties. Members that depend on the selected arrays, on
  /// the ranks and on VTK's request have their defaults.
  patchio::ReadRequest RequestFromProperties() const;
  patchio::IndexMode IndexModeFromProperties() const;
  /// Returns whether the user has selected the slice of SetSliceWhileReading().
  bool OutputsSlice() const { return this->SliceWhileReading && this->Region == ON_PLANE_OF_INTEREST; }
  /// Returns whether the user has selected a vtkOverlappingAMR, and not a slice, which vtkOverlappingAMR
  /// cannot represent.
  bool OutputsAmr() const { return this->Blocks == OVERLAPPING_AMR && !this->OutputsSlice(); }

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

  /// Sets `member` to `value`, limited to `least` .. `most`, and marks the reader as modified if the member
  /// changes.
  void SetClamped(double& member, double value, double least, double most);
};

#endif
