#include "Probe/Quick.h"

#include "Session.h"
#include "Support/Error.h"

namespace patchio::probe {

void RunQuick(const Settings&, tools::Session&)
{
  throw Error("probe: the quick mode is not there yet; give --full.");
}

}  // namespace patchio::probe
