// Which places of an aligned plane the visible cells above it cover, of all blocks and ranks.
#ifndef Extract_Coverage_h
#define Extract_Coverage_h

#include "Extract/AlignedCut.h"

#include <array>
#include <vector>

namespace patchio::extract {

class Coverage
{
public:
  /// Runs of visible cells above the plane, as numbers that ranks can exchange.
  static std::vector<double> RunsOf(const std::vector<AlignedCut>& cuts);

  /// runs: those of all ranks.
  explicit Coverage(const std::vector<double>& runs);

  /// Leaves out the cells below the plane of which the middle is covered.
  void RemoveCovered(AlignedCut& cut) const;

private:
  struct Run
  {
    double Kind;  ///< which of the plane's axes are flat: a line does not cover an area
    std::array<double, 2> Inner, Outer;
  };

  static int KindOf(const AlignedCut& cut);
  void FindRuns(double kind, double outer, std::vector<const Run*>& found) const;

  std::vector<Run> Runs;
  std::vector<std::vector<int>> Bins;  ///< the runs of each of many equal strips along the outer axis
  double First = 0, BinsPerLength = 0;
};

}  // namespace patchio::extract

#endif
