// The metadata channel of one time step: its catalog and where everything lies, in memory and beside the
// data. LookAtDescribingFile() before the step is read, FindStepSidecar(); else BuildIndex(),
// SaveStepSidecar().
#pragma once

#include "MetadataChannel/SidecarSave.h"
#include "MetadataChannel/SidecarSearch.h"
#include "MetadataChannel/StepIndex.h"
