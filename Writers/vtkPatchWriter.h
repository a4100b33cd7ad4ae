/**
 * @class vtkPatchWriter
 * @brief Writes VTK data to a PatchIO container, a folder NAME.pio
 *
 * Writes images, rectilinear, structured and unstructured grids and polygons, alone or in multiblock,
 * partitioned and AMR data sets. All grids must have the same type. If the writer writes the output of
 * vtkPatchReader, the container has the same levels, blocks and arrays. Cells, types and trees that
 * containers do not support are an error. The writer skips data other than numeric cell and point arrays,
 * with a warning.
 *
 * A call of Write() writes one time step, or several time steps (WriteAllTimeSteps). The first call begins
 * the container. Later calls for the same file add their steps to the container. But a call that writes an
 * earlier step again begins a new container; only a repetition of the last of several steps does nothing. So
 * an extractor, which calls Write() once for each time step, fills one container.
 *
 * Write() is collective: every rank of the controller calls it and writes the blocks of the rank. Rank 0
 * reports errors through vtkErrorMacro.
 *
 * With WriteInBackground or an OutputConfiguration of the mode thread, a call returns when the values are
 * copied, and a thread of each rank writes the values while the next step is computed (see
 * Documentation/Guide/Output.md). The next call reports errors of this thread and returns 0. The destructor
 * reports errors of the last steps.
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
   * The folder to write. ParaView's dialogs show the folder as a container if the name ends with .pio. The
   * parent folder must exist.
   */
  vtkSetFilePathMacro(FileName);
  vtkGetFilePathMacro(FileName);

  ///@{
  /**
   * On: replaces an existing container of this name. Off: adds steps to the existing container. If FileName
   * is an existing folder that is not a container, Write() leaves the folder unchanged and reports an error.
   * On by default.
   */
  vtkSetMacro(Overwrite, bool);
  vtkGetMacro(Overwrite, bool);
  vtkBooleanMacro(Overwrite, bool);
  ///@}

  ///@{
  /**
   * On: writes every TimeStepStride-th time step of the input from MinTimeStep to MaxTimeStep, or to the last
   * step if MaxTimeStep is less than MinTimeStep. Off: writes the current step. Off by default.
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
   * On: writes only the arrays that are enabled in the selections. Off: writes all arrays. Off by default.
   * Flags of hidden cells do not count as arrays: the writer always applies these flags.
   */
  vtkSetMacro(ChooseArrays, bool);
  vtkGetMacro(ChooseArrays, bool);
  vtkBooleanMacro(ChooseArrays, bool);
  vtkDataArraySelection* GetPointDataArraySelection();
  vtkDataArraySelection* GetCellDataArraySelection();
  ///@}

  ///@{
  /**
   * The number of consecutive ranks that together write one file of each step; 0, the default: all ranks.
   */
  vtkSetClampMacro(RanksAFile, int, 0, VTK_INT_MAX);
  vtkGetMacro(RanksAFile, int);
  ///@}

  /// The values of the property Compression.
  enum CompressionKind
  {
    CompressionNone,
    CompressionDeflate,
    CompressionZstd,
    CompressionAutomatic
  };
  ///@{
  /**
   * The compression of values. Deflate: every program that reads HDF5 can read the values. Zstd: reading is
   * faster, but other programs need HDF5's plugin for Zstd. Automatic: deflate for arrays that
   * shrink by more than a tenth, estimated from a sample. A compressed step stays in memory until the step is
   * written. Default: none.
   */
  vtkSetClampMacro(Compression, int, CompressionNone, CompressionAutomatic);
  vtkGetMacro(Compression, int);
  ///@}

  ///@{
  /**
   * On: a thread writes each time step in the background. A call waits until all steps are written if the
   * call writes several or compressed steps, or a step of more than 1 GiB on a rank. Off by default.
   */
  vtkSetMacro(WriteInBackground, bool);
  vtkGetMacro(WriteInBackground, bool);
  vtkBooleanMacro(WriteInBackground, bool);
  ///@}

  /**
   * An output configuration as for simulations: the path of a JSON file, or the text of the file. The
   * channels, of the formats container and grads, define the content, the steps and the targets of the
   * output. Paths are relative to the parent folder of FileName, which must be set. The mode must be thread,
   * which does not require WriteInBackground, or direct.
   */
  vtkSetStringMacro(OutputConfiguration);
  vtkGetStringMacro(OutputConfiguration);

  /**
   * The controller of the ranks that write together. Default: VTK's global controller.
   */
  void SetController(vtkMultiProcessController* controller);
  vtkMultiProcessController* GetController();

  /**
   * Writes the current step, or the selected steps. Returns 1 on success, 0 after an error. Collective: every
   * rank of the controller calls it.
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

  struct SourceStep;
  struct Internals;

  void WriteSteps();
  void WriteStep(patchio::output::ChannelOutput& to, patchio::Communicator& ranks, const SourceStep& step,
      std::set<std::string>& notes);
  std::string FolderToWrite();
  std::vector<int> StepsToWrite();
  bool RepeatsLaterStep(const std::vector<int>& indices);
  std::vector<double> TimesOfInput();
  vtkDataObject* UpdateInput(int index, int piece, int pieces);
  std::int64_t ChooseStepNumber(std::int64_t numberInData, double time, bool isFirst);

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
