// The facts about a series that ParaView's panel shows before the reader reads values.
#ifndef SeriesFacts_h
#define SeriesFacts_h

#include <vtkNew.h>

#include <set>
#include <string>

class vtkStringArray;

namespace patchio {

class OpenedSeries;

/// The facts about a series that ParaView's panel shows, such as the levels, the bounds and the names of the
/// grids.
class SeriesFacts
{
public:
  SeriesFacts();
  ~SeriesFacts();

  /// Resets the format and the levels, and makes the next Update() update all facts. The caller calls this
  /// function before the reader opens other files, or the same files again.
  void Reset();
  /// Updates the facts from the displayed step of `series`, unless the last Update() used the same file. The
  /// caller calls this function after each opened step. If `logsNotes` is true, writes each note of the
  /// series once to VTK's log, which ParaView's Log Viewer shows. Unlike warnings, notes do not open a
  /// window.
  void Update(const OpenedSeries& series, bool logsNotes);

  /// The name of the format (Format::Name()). Empty: no step is open yet.
  std::string FormatName;
  /// The format whose options the panel shows: for some containers, another format with the same type of
  /// grids; otherwise FormatName.
  std::string EquivalentFormat;
  /// The coarsest level, 0, and the finest level of all opened steps.
  int Levels[2] = {0, 0};
  /// The bounds of the domain (xmin, xmax, ymin ...) in the coordinates of the data; 0 to 1 if the bounds are
  /// not known. If the data are flat along an axis, the domain has the length 1 along the axis.
  double Bounds[6] = {0, 1, 0, 1, 0, 1};
  /// The grids that the user may select: AutomaticGrid and, if the data have several grids, the names of the
  /// grids and AllGrids.
  vtkNew<vtkStringArray> Grids;
  /// Pairs of the name of a grid and the name of a variable with values on this grid; empty if the data have
  /// only one grid.
  vtkNew<vtkStringArray> ArraysOfGrids;
  /// The names of the variables with one component, without geometry.
  vtkNew<vtkStringArray> Scalars;

private:
  std::string UpdatedFrom;            ///< path of the step that the last Update() used
  std::set<std::string> LoggedNotes;  ///< notes that Update() has written to the log
};

/// Returns the name of a file or, for dumps and plotfiles, the name of its folder, because these files all
/// have the same name.
std::string ShortName(const std::string& path);

}  // namespace patchio

#endif
