// The state of the simulation through an output configuration, as other simulations write theirs (patchio.h).
#pragma once

#include "LinAdv/Hierarchy.h"
#include "LinAdv/Options.h"
#include "Session.h"
#include "Write/Output.h"

#include <deque>
#include <vector>

namespace patchio::linadv {

class ChannelOutput
{
public:
  /// out: of the ranks of the session; it must outlive this.
  ChannelOutput(output::Output& out, tools::Session& session, const Options& options, const Problem& problem);

  /// Collective. Writes the step, if a channel wants it.
  void Write(const Hierarchy& hierarchy, int step, double time);

private:
  /// What a call hands over.
  struct Arrays
  {
    std::vector<const void*> Pointers;
    std::deque<std::vector<double>> Made;  ///< what the simulation does not have in memory
  };

  /// Visits this rank's patches: visit(level, number, cells).
  template <typename Visit>
  void ForMine(const Hierarchy& hierarchy, Visit visit) const;
  void DeclarePatches(const Hierarchy& hierarchy);
  void AddScalars(const Hierarchy& hierarchy, Arrays& arrays) const;
  void AddNodeMeans(const Hierarchy& hierarchy, Arrays& arrays) const;
  void AddVectors(const Hierarchy& hierarchy, Arrays& arrays) const;

  const Options& Settings;
  const Problem& Setup;
  Communicator& Ranks;
  output::Output& Out;
};

}  // namespace patchio::linadv
