// How many threads read, in the field data of the output.
#ifndef ThreadData_h
#define ThreadData_h

#include "Read/ReadControl.h"
#include "Read/ReportData.h"

#include <string>
#include <vector>

class vtkFieldData;

namespace patchio {

struct ThreadsUsed
{
  int Concurrency = 0;                ///< N*; 0: not known or not asked
  double Load = 0;                    ///< NC; 0 where not known
  std::vector<ThreadChange> Changes;  ///< reads in flight wanted, all ranks together
  std::string Text;                   ///< where all this is from, in lines
  StorageCurve Storage;               ///< F(N), on rank 0
};

/// Adds the arrays "I/O N*", "I/O NC" (one value each), "I/O reads in flight" (tuples of seconds since the
/// read began and the number from then on) and "I/O threads" (the lines of the text).
void AddThreadData(const ThreadsUsed& threads, vtkFieldData* fieldData);

}  // namespace patchio

#endif
