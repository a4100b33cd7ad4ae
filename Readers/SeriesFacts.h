// What ParaView's panel shows about the data before their values are read.
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

  /// Other files will be opened, or the same ones again.
  void Forget();
  /// After each step that is opened. logs: the series' notes go to VTK's log, which ParaView's Log Viewer
  /// shows, each once; they open no window, as warnings do.
  void Learn(const OpenedSeries& series, bool logs);

  /// Format::Name(); empty before anything is opened.
  std::string FormatName;
  /// The format whose choices the panel offers: for a container the one that has such grids, else FormatName.
  std::string LikeFormat;
  /// The coarsest level, 0, and the finest level of all steps that were opened.
  int Levels[2] = {0, 0};
  /// The domain along x, y, z in the coordinates of the data; 0 to 1 if it is not known. Its length is 1
  /// along axes along which the data are flat.
  double Bounds[6] = {0, 1, 0, 1, 0, 1};
  /// What the user may choose: AutomaticGrid and, if there are several grids, their names and AllGrids.
  vtkNew<vtkStringArray> Grids;
  /// If there are several grids: pairs of a grid's name and the name of a variable with values on it.
  vtkNew<vtkStringArray> ArraysOfGrids;
  /// The names of the scalars.
  vtkNew<vtkStringArray> Scalars;

private:
  std::string LearntFrom;        ///< path of the last step
  std::set<std::string> Logged;  ///< notes
};

/// The name of a file, or of its folder for dumps and plotfiles, whose files all have the same name.
std::string ShortName(const std::string& path);

}  // namespace patchio

#endif
