#include "Update/UpdateReports.h"

namespace patchio {

void UpdateReports::Add(Communicator& ranks, IoReport mine, const ThreadsUsed& threads, OpenedSeries& series,
    const Outcome& outcome)
{
  mine.Threads = threads.Text;
  mine.OpenSeconds = series.TakeOpenSeconds();
  mine.LocateSeconds += series.PrepareSeconds();
  mine.Metadata = series.Step().Origin();
  mine.Notes.insert(mine.Notes.end(), series.Steps().Notes.begin(), series.Steps().Notes.end());
  if (!outcome.Warning.empty()) {
    mine.Notes.push_back(outcome.Warning);
  }
  if (mine.ThreadsMax == threads.MostOfRank) {
    mine.Notes.push_back("a rank uses " + std::to_string(threads.MostOfRank) + " threads at most");
  }
  this->Data.Last = Combine(mine, ranks);
  this->Data.File = series.CurrentPath();
  this->Data.Time = series.CurrentTime();
  this->Data.Date = series.Current().Date;
  this->Data.Threads = threads.Changes;
  this->Data.Storage = threads.Storage;
  this->Data.Cancelled = outcome.Cancelled;
  this->Data.WantedBytes = outcome.WantedBytes;
  this->Data.Remember();
  this->LastText = this->Data.Text();
}

}  // namespace patchio
