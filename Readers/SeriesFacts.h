// The facts about the data that ParaView's panel shows before values are read.
#ifndef SeriesFacts_h
#define SeriesFacts_h

#include <vtkNew.h>

#include <set>
#include <string>

class vtkStringArray;

namespace patchio {

class OpenedSeries;

class SeriesFacts
{
public:
  SeriesFacts();
  ~SeriesFacts();

  /// Forgets the format and the levels. Call it before the reader opens other files, or the same files again.
  void Forget();
  /// Takes the facts from the series' current step. Call it after each opened step. If `logs`, writes each
  /// note of the series once to VTK's log, which ParaView's Log Viewer shows. Unlike warnings, notes do not
  /// open a window.
  void Learn(const OpenedSeries& series, bool logs);

  /// Format::Name(); empty before anything is opened.
  std::string FormatName;
  /// The format whose choices the panel offers: for a container, the format that has the same kind of grids;
  /// otherwise FormatName.
  std::string EquivalentFormat;
  /// The coarsest level, 0, and the finest level of all steps that were opened.
  int Levels[2] = {0, 0};
  /// The domain along x, y, z in the coordinates of the data; 0 to 1 if it is not known. Its length is 1
  /// along axes along which the data are flat.
  double Bounds[6] = {0, 1, 0, 1, 0, 1};
  /// The grids that the user may choose: AutomaticGrid and, if there are several grids, their names and
  /// AllGrids.
  vtkNew<vtkStringArray> Grids;
  /// Pairs of a grid's name and the name of a variable with values on this grid; empty if there is only one
  /// grid.
  vtkNew<vtkStringArray> ArraysOfGrids;
  /// The names of the variables with one component.
  vtkNew<vtkStringArray> Scalars;

private:
  std::string LearntFrom;        ///< path of the step of the last Learn()
  std::set<std::string> Logged;  ///< notes that are in the log
};

/// Returns the name of a file, or of its folder for dumps and plotfiles, whose files all have the same name.
std::string ShortName(const std::string& path);

}  // namespace patchio

#endif
