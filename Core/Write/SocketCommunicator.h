// A communicator that uses sockets instead of MPI, for the writing threads of a simulation.
#pragma once

#include "Base/Communicator.h"

#include <memory>

namespace patchio::output {

/// Makes a second communicator of the processes of `ranks`, for a thread that runs concurrently with the
/// simulation's thread. Only the simulation's thread uses MPI, so the simulation does not need
/// MPI_THREAD_MULTIPLE. All messages except the messages of Exchange() pass through rank 0. A process can
/// connect only with a secret that the ranks exchange over `ranks`.
///
/// Methods of the result throw Error if a rank has ended, or has not answered for about `waitSeconds`
/// seconds; the Error names the waiting rank. After an Error, all methods throw the same Error. This function
/// throws Error, the same on all ranks, if ranks cannot reach each other over the network. Collective: every
/// rank of `ranks` calls it.
std::unique_ptr<Communicator> MakeSocketCommunicator(Communicator& ranks, double waitSeconds);

}  // namespace patchio::output
