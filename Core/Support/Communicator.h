// The few collective operations that Core needs, so that it runs with MPI and without.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

/// A group of processes that read or write together. Every method but Rank() and Size() is collective:
/// all ranks call it, in the same order.
class Communicator
{
public:
  virtual ~Communicator() = default;
  virtual int Rank() const = 0;
  virtual int Size() const = 0;
  /// For collective work that is not among the methods here, files above all; MPI_COMM_NULL where there is
  /// none.
  virtual MPI_Comm Mpi() const { return MPI_COMM_NULL; }

  /// Bytes of rank 0 appear on all ranks.
  virtual void Broadcast(std::vector<std::byte>& bytes) = 0;
  /// The texts of all ranks, in rank order, on all ranks.
  virtual std::vector<std::string> AllGather(const std::string& text) = 0;
  /// The values of all ranks, in rank order, on all ranks; `values` has the same length everywhere.
  /// Result: Size() x values.size(), rank by rank.
  virtual std::vector<double> AllGather(const std::vector<double>& values) = 0;
  /// Integers of all ranks one after another in rank order; lengths may differ.
  virtual std::vector<int> AllGather(const std::vector<int>& values) = 0;

  /// Begins to add up the values of all ranks without waiting for them; `values` has the same length
  /// everywhere. One sum at a time. Whole numbers below 2^53 are added up exactly, so that all ranks see the
  /// same.
  virtual void BeginSum(const std::vector<double>& values);
  /// True once the sum is there; then it is in `sum`, and another may begin. Not collective.
  virtual bool EndSum(std::vector<double>& sum);

  /// The same processes once more, for what goes on at the same time as other work of this one. Lives as long
  /// as this one; collective the first time.
  Communicator& Aside();

protected:
  /// By default one process by itself.
  virtual std::unique_ptr<Communicator> Duplicate() const;

private:
  std::vector<double> Sum;
  std::unique_ptr<Communicator> Second;
};

/// One process by itself.
std::unique_ptr<Communicator> MakeSelfCommunicator();

/// The processes of an MPI communicator, which must outlive the result.
std::unique_ptr<Communicator> MakeMpiCommunicator(MPI_Comm comm);

}  // namespace patchio
