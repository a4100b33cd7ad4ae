#include "SeriesFollower.h"

#include "pqAnimationManager.h"
#include "pqAnimationScene.h"
#include "pqPVApplicationCore.h"
#include "pqPipelineSource.h"
#include "pqUndoStack.h"

#include "vtkClientServerStream.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSession.h"
#include "vtkSMSourceProxy.h"

#include <limits>

namespace {

/// Calls LookForNewSteps() on all ranks of the reader's server. The call bypasses the proxy, because the
/// proxy would count the call as a change.
bool FindsNewSteps(vtkSMSourceProxy* reader)
{
  vtkClientServerStream stream;
  stream << vtkClientServerStream::Invoke << VTKOBJECT(reader) << "LookForNewSteps"
         << vtkClientServerStream::End;
  reader->GetSession()->ExecuteStream(reader->GetLocation(), stream);
  bool found = false;
  return reader->GetSession()->GetLastResult(reader->GetLocation()).GetArgument(0, 0, &found) && found;
}

double LastTimeOf(vtkSMSourceProxy* reader)
{
  const vtkSMPropertyHelper times(reader, "TimestepValues");
  const unsigned int count = times.GetNumberOfElements();
  return count > 0 ? times.GetAsDouble(count - 1) : -std::numeric_limits<double>::infinity();
}

pqAnimationScene* SceneOf(pqPipelineSource* source)
{
  auto* core = pqPVApplicationCore::instance();
  return core && core->animationManager() ? core->animationManager()->getScene(source->getServer()) : nullptr;
}

}  // namespace

void SeriesFollower::Look(pqPipelineSource* source)
{
  vtkSMSourceProxy* reader = source->getSourceProxy();
  if (vtkSMPropertyHelper(reader, "Follow").GetAsInt() == 0) {
    this->Remove(source);
    return;
  }
  // Another action, such as Apply, may have found new steps since the last look.
  const double before = this->LastTimes.value(source, LastTimeOf(reader));
  SCOPED_UNDO_EXCLUDE();
  if (FindsNewSteps(reader)) {
    reader->UpdatePipelineInformation();
  }
  const double last = LastTimeOf(reader);
  this->LastTimes[source] = last;
  pqAnimationScene* scene = SceneOf(source);
  if (scene && scene->getAnimationTime() >= before && scene->getAnimationTime() < last) {
    scene->setAnimationTime(last);
  }
}
