// A communicator that simulates rank 0 of any number of ranks, which all contribute the same data, and counts
// its messages.
#pragma once

#include "Base/Communicator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchio::atscale {

/// The communication of one rank.
struct CommunicationCount
{
  std::uint64_t Calls = 0;     ///< collective calls
  std::uint64_t Messages = 0;  ///< messages that this rank sends, or receives, whichever number is greater
  std::uint64_t Received = 0;  ///< bytes received
};

/// The numbers of messages are those of the usual algorithms: a binomial tree for a broadcast, recursive
/// doubling for sums, maxima and all-gather, and Bruck's algorithm for the lengths of an all-to-all. Calls
/// for which MpiCommunicator itself sends one message per rank count these messages. Up to 24 ranks share a
/// machine.
class CountingCommunicator : public Communicator
{
public:
  explicit CountingCommunicator(
      int size, std::shared_ptr<CommunicationCount> count = std::make_shared<CommunicationCount>())
      : Total(std::move(count)), SizeValue(size)
  {
  }

  /// Returns the counts so far, including those of BackgroundDuplicate() and MachineCommunicator().
  const CommunicationCount& Count() const { return *this->Total; }

  using Communicator::Exchange;
  int Rank() const override { return 0; }
  int Size() const override { return this->SizeValue; }

  void Broadcast(std::vector<std::byte>& bytes) override
  {
    // Rank 0 has the bytes, so this counts the messages of another rank: the number of bytes, an agreement
    // that all ranks have room for them, and the bytes.
    this->Add(3 * this->Rounds(), sizeof(std::uint64_t) + this->Rounds() * sizeof(int) + bytes.size());
  }
  std::vector<std::string> AllGather(const std::string& text) override
  {
    this->Add(2 * this->Rounds(), this->Others() * (text.size() + sizeof(std::uint64_t)));  // lengths first
    return std::vector<std::string>(this->SizeValue, text);
  }
  std::vector<std::string> Gather(const std::string& text) override
  {
    this->Add(this->Others(), this->Others() * (text.size() + sizeof(std::uint64_t)));
    return std::vector<std::string>(this->SizeValue, text);
  }
  void Exchange(std::vector<std::string>& texts, std::vector<std::string>& into) override
  {
    std::uint64_t parts = 0, bytes = 0;
    for (const std::string& text : texts) {
      parts += text.empty() ? 0 : 1;
      bytes += text.size();
    }
    this->Add(this->Rounds() + parts, this->Others() * sizeof(std::uint64_t) + bytes);
    into = texts;
  }
  std::vector<double> AllGather(const std::vector<double>& values) override { return this->Repeat(values); }
  std::vector<int> AllGather(const std::vector<int>& values) override { return this->Repeat(values); }
  std::vector<double> Max(const std::vector<double>& values) override
  {
    this->Add(this->Rounds(), this->Rounds() * values.size() * sizeof(double));
    return values;
  }
  void BeginSum(const std::vector<double>& values) override
  {
    this->Add(this->Rounds(), this->Rounds() * values.size() * sizeof(double));
    this->Sums = values;
    for (double& sum : this->Sums) {
      sum *= this->SizeValue;
    }
  }
  bool TestSum(std::vector<double>& sum) override
  {
    sum = this->Sums;
    return true;
  }

protected:
  std::unique_ptr<Communicator> Duplicate() const override
  {
    return std::make_unique<CountingCommunicator>(this->SizeValue, this->Total);
  }
  /// Each rank sends the identity of its machine to all ranks, as two numbers.
  std::unique_ptr<Communicator> SplitByMachine() const override
  {
    this->Add(2 * this->Rounds(), this->Others() * 2 * sizeof(int));
    return std::make_unique<CountingCommunicator>(std::min(this->SizeValue, 24), this->Total);
  }

private:
  std::uint64_t Others() const { return static_cast<std::uint64_t>(this->SizeValue) - 1; }
  std::uint64_t Rounds() const
  {
    std::uint64_t rounds = 0;
    for (std::uint64_t reached = 1; reached < static_cast<std::uint64_t>(this->SizeValue); reached *= 2) {
      ++rounds;
    }
    return rounds;
  }
  void Add(std::uint64_t messages, std::uint64_t received) const
  {
    ++this->Total->Calls;
    this->Total->Messages += messages;
    this->Total->Received += received;
  }
  template <typename T>
  std::vector<T> Repeat(const std::vector<T>& values)
  {
    this->Add(2 * this->Rounds(), this->Others() * (values.size() * sizeof(T) + sizeof(std::uint64_t)));
    std::vector<T> all;
    all.reserve(values.size() * this->SizeValue);
    for (int rank = 0; rank < this->SizeValue; ++rank) {
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  const std::shared_ptr<CommunicationCount> Total;
  const int SizeValue;
  std::vector<double> Sums;
};

}  // namespace patchio::atscale
