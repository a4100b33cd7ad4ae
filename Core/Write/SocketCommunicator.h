// The processes of a simulation once more, joined by sockets.
#pragma once

#include "Base/Communicator.h"

#include <memory>

namespace patchio::output {

/// The same processes as `ranks`, for a thread beside the simulation's own: MPI stays with the simulation,
/// which so needs no MPI_THREAD_MULTIPLE. All but Exchange() goes through rank 0, and only those may join who
/// know a secret that `ranks` passed on.
///
/// Its methods throw Error when a rank has ended, or has not answered for `waitSeconds`: the text says who
/// waits for whom. After that all of them do. Collective over `ranks`; throws Error, the same on all ranks,
/// when ranks cannot reach each other over the network.
std::unique_ptr<Communicator> MakeSocketCommunicator(Communicator& ranks, double waitSeconds);

}  // namespace patchio::output
