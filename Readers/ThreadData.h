// How many threads read, in the field data of the output.
#ifndef ThreadData_h
#define ThreadData_h

#include "Update/ReadThreads.h"

class vtkFieldData;

namespace patchio {

/// Adds the arrays "I/O N*", "I/O NC" (one value each), "I/O reads in flight" (tuples of seconds since the
/// read began and the number from then on) and "I/O threads" (the lines of the text).
void AddThreadData(const ThreadsUsed& threads, vtkFieldData* fieldData);

}  // namespace patchio

#endif
