/**
 * @class vtkPatchWriter
 * @brief Writes VTK data into a PatchIO container, a folder NAME.pio
 *
 * Takes images, rectilinear, structured and unstructured grids and polygons, alone or in multiblock,
 * partitioned and AMR data sets, of one kind of grid. The output of vtkPatchReader comes back with the same
 * levels, blocks and arrays. Cells, types and trees that a container cannot hold are an error. The writer
 * skips data other than numeric cell and point arrays, with a warning.
 *
 * A call of Write() writes one time step, or several (WriteAllTimeSteps). The first call begins the
 * container, and later calls for the same file add their steps to it, unless a call writes a step again. Such
 * a call begins the container anew. So an extractor, which calls Write() once for each time step, fills one
 * container.
 *
 * Write() is collective: every rank of the controller calls it and writes its own blocks. Errors are reported
 * on rank 0 through vtkErrorMacro.
 *
 * With WriteInBackground or an OutputConfiguration, a call returns when the values are copied, and a thread
 * of each rank writes them while the next step is computed: see Documentation/Guide/Output.md. The next call
 * reports errors of this thread and returns 0; the destructor reports errors of the last steps.
 */
#ifndef vtkPatchWriter_h
#define vtkPatchWriter_h

#include "vtkPatchIOWritersModule.h"  // for the export macro
#include "vtkWriter.h"

#include <cstdint>  // for numbers of steps
#include <memory>   // for the implementation class
#include <set>      // for notes
#include <string>   // for messages

namespace patchio {
class Communicator;
namespace output {
class ChannelOutput;
}
}  // namespace patchio
#include <vector>  // for times

class vtkDataArraySelection;
class vtkMultiProcessController;

class VTKPATCHIOWRITERS_EXPORT vtkPatchWriter : public vtkWriter
{
public:
  static vtkPatchWriter* New();
  vtkTypeMacro(vtkPatchWriter, vtkWriter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /**
   * The folder to write; ParaView's dialogs show it as a container if its name ends with .pio. Its parent
   * folder must exist.
   */
  vtkSetFilePathMacro(FileName);
  vtkGetFilePathMacro(FileName);

  ///@{
  /**
   * Replaces an existing container of this name. Off: adds steps to the container. Any other folder stays
   * unchanged, and Write() reports an error. On by default.
   */
  vtkSetMacro(Overwrite, bool);
  vtkGetMacro(Overwrite, bool);
  vtkBooleanMacro(Overwrite, bool);
  ///@}

  ///@{
  /**
   * Writes every TimeStepStride-th time step of the input from MinTimeStep to MaxTimeStep (or to the last
   * step, if MaxTimeStep is less than MinTimeStep). Off: writes the current step. Off by default.
   */
  vtkSetMacro(WriteAllTimeSteps, bool);
  vtkGetMacro(WriteAllTimeSteps, bool);
  vtkBooleanMacro(WriteAllTimeSteps, bool);
  vtkSetClampMacro(MinTimeStep, int, 0, VTK_INT_MAX);
  vtkGetMacro(MinTimeStep, int);
  vtkSetMacro(MaxTimeStep, int);
  vtkGetMacro(MaxTimeStep, int);
  vtkSetClampMacro(TimeStepStride, int, 1, VTK_INT_MAX);
  vtkGetMacro(TimeStepStride, int);
  ///@}

  ///@{
  /**
   * Writes only the arrays that are enabled in the selections. Off by default. Flags of hidden cells do not
   * count as arrays: the writer always applies them.
   */
  vtkSetMacro(ChooseArrays, bool);
  vtkGetMacro(ChooseArrays, bool);
  vtkBooleanMacro(ChooseArrays, bool);
  vtkDataArraySelection* GetPointDataArraySelection();
  vtkDataArraySelection* GetCellDataArraySelection();
  ///@}

  ///@{
  /**
   * The number of consecutive ranks that write one file of each step together; 0, the default: all ranks.
   */
  vtkSetClampMacro(RanksAFile, int, 0, VTK_INT_MAX);
  vtkGetMacro(RanksAFile, int);
  ///@}

  enum CompressionKind
  {
    CompressionNone,
    CompressionDeflate,
    CompressionZstd,
    CompressionAutomatic
  };
  ///@{
  /**
   * The compression of values. Deflate: every program that reads HDF5 can read the values; Zstd: the values
   * are faster to read, but other programs need HDF5's plugin for Zstd; Automatic: deflate for arrays that
   * become at least a tenth smaller. A compressed step stays in memory until it is written. Default: none.
   */
  vtkSetClampMacro(Compression, int, CompressionNone, CompressionAutomatic);
  vtkGetMacro(Compression, int);
  ///@}

  ///@{
  /**
   * Leaves the writing of each time step to a thread. A call that writes several steps waits at its end until
   * they are written. Off by default.
   */
  vtkSetMacro(WriteInBackground, bool);
  vtkGetMacro(WriteInBackground, bool);
  vtkBooleanMacro(WriteInBackground, bool);
  ///@}

  /**
   * An output configuration as for simulations, used instead of FileName: the path of a JSON file, or its
   * text. The channels of the formats container and grads define the content, the steps and the target of the
   * output; paths begin in the folder of FileName. The mode is thread, also without WriteInBackground, or
   * direct.
   */
  vtkSetStringMacro(OutputConfiguration);
  vtkGetStringMacro(OutputConfiguration);

  /**
   * The controller of the ranks that write together. Default: the global controller.
   */
  void SetController(vtkMultiProcessController* controller);
  vtkMultiProcessController* GetController();

  /**
   * Writes the step or steps. Returns 1 on success, 0 after an error. Collective: every rank of the
   * controller calls it.
   */
  int Write() override;

protected:
  vtkPatchWriter();
  ~vtkPatchWriter() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  void WriteData() override {}

private:
  vtkPatchWriter(const vtkPatchWriter&) = delete;
  void operator=(const vtkPatchWriter&) = delete;

  struct GivenStep;
  struct Internals;

  void WriteSteps();
  void WriteStep(patchio::output::ChannelOutput& to, patchio::Communicator& ranks, const GivenStep& step,
      std::set<std::string>& notes);
  std::string FolderToWrite();
  std::vector<int> StepsToWrite();
  std::vector<double> TimesOfInput();
  vtkDataObject* UpdateInput(int index, int piece, int pieces);
  std::int64_t NumberOfStep(std::int64_t given, double time, bool isFirst);

  char* FileName = nullptr;
  bool Overwrite = true;
  bool ChooseArrays = false;
  bool WriteAllTimeSteps = false;
  int MinTimeStep = 0;
  int MaxTimeStep = -1;
  int TimeStepStride = 1;
  int RanksAFile = 0;
  int Compression = CompressionNone;
  bool WriteInBackground = false;
  char* OutputConfiguration = nullptr;

  std::unique_ptr<Internals> Internal;
};

#endif
