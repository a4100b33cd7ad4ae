#include "Support/Require.h"

#include "Support/Error.h"

namespace patchio {

void Requirement::Fail(const std::string& what) const
{
  throw Error(std::string(this->Subject) + " has " + what + ".");
}

}  // namespace patchio
