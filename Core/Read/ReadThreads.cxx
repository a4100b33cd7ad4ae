#include "Read/ReadThreads.h"

#include <algorithm>

namespace patchio {

void ReadThreads::Set(const ThreadSettings& settings, ThreadPolicy policy)
{
  this->Settings = settings;
  this->Policy = policy;
}

int ReadThreads::OfRank(Communicator& ranks, int rank) const
{
  return std::min(ThreadsOfRank(this->Settings, ranks.Size(), rank), this->MostThreadsOfRank);
}

void ReadThreads::Begin(Communicator& ranks, const std::string& path, LoadRequest& request)
{
  if (this->Settings.Mode != ThreadMode::Automatic) {
    return;
  }
  this->Automatic.Begin(ranks, path, this->Policy, ThreadsThatFit(this->MostThreadsOfRank));
  request.Control = &this->Automatic.Control();
  request.Threads = request.Control->Threads();
  request.Storage = this->Automatic.Choice().CostOfRequest.value_or(request.Storage);
}

void ReadThreads::End(const LoadRequest& request)
{
  if (request.Control) {
    this->Automatic.End();
  }
}

void ReadThreads::SetPrefetchThreads(Communicator& ranks, LoadRequest& request)
{
  if (this->Settings.Mode != ThreadMode::Automatic) {
    return;
  }
  const int concurrency = this->Automatic.Control().Changes().back().Threads;
  request.Threads =
      std::min(ThreadsFromStorage(concurrency, 0, ranks.Size(), ranks.Rank()), this->MostThreadsOfRank);
  request.Storage = this->Automatic.Choice().CostOfRequest.value_or(request.Storage);
}

ThreadsUsed ReadThreads::Used(Communicator& ranks, const LoadRequest& request)
{
  ThreadsUsed used = request.Control || this->Settings.Mode == ThreadMode::Automatic
                         ? this->UsedAutomatically(request)
                         : this->UsedAsSet(ranks);
  used.MostThreadsOfRank = this->MostThreadsOfRank;
  return used;
}

ThreadsUsed ReadThreads::UsedAutomatically(const LoadRequest& request)
{
  ThreadsUsed used;
  used.Text = this->Automatic.Text();
  if (request.Control) {
    used.Changes = request.Control->Changes();
    used.Storage = this->Automatic.Curve();
  } else {
    used.Changes = {{0, this->Automatic.Control().Changes().back().Threads}};
    used.Text += "  Read ahead with the threads of the previous read\n";
  }
  return used;
}

ThreadsUsed ReadThreads::UsedAsSet(Communicator& ranks) const
{
  ThreadsUsed used;
  used.Text = "Threads: fixed\n";
  if (this->Settings.Mode == ThreadMode::FromStorage) {
    used.Text = "Threads: from N* = " + std::to_string(this->Settings.StorageConcurrency) +
                " and NC = " + std::to_string(this->Settings.OtherLoad) + ", both given\n";
    used.Storage.Concurrency = this->Settings.StorageConcurrency;
    used.Storage.Load = this->Settings.OtherLoad;
    used.Storage.Source = "given";
  }
  int all = 0;
  for (int rank = 0; rank < ranks.Size(); ++rank) {
    all += this->OfRank(ranks, rank);
  }
  used.Changes = {{0, all}};
  return used;
}

std::vector<std::string> ReadThreads::Notes(const LoadRequest& request) const
{
  return request.Control ? this->Automatic.Notes() : std::vector<std::string>();
}

}  // namespace patchio
