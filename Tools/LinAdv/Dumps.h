// The state of the simulation as SAMRAI dumps and as lines on the screen.
#pragma once

#include "Formats/SAMRAI/SamraiWriter.h"
#include "LinAdv/Hierarchy.h"
#include "LinAdv/Options.h"
#include "Session.h"

namespace patchio::linadv {

/// What the simulation has, as the options say.
std::vector<Variable> DescribeVariables(const Options& options, int dimension);

class Dumps
{
public:
  /// Collective. Throws Error when the output directory cannot be used, see Options::Overwrite.
  Dumps(tools::Session& session, const Options& options, const Problem& problem);

  /// Collective.
  void Write(const Hierarchy& hierarchy, int step, double time);

private:
  Catalog Describe(const Hierarchy& hierarchy, int step, double time) const;

  tools::Session& Session;
  const Options& Settings;
  const Problem& Setup;
  samrai::SamraiWriter Writer;
};

}  // namespace patchio::linadv
