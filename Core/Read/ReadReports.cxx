#include "Read/ReadReports.h"

#include <utility>

namespace patchio {

void ReadReports::Add(const RankAgreement& ranks, IoReport mine, const ThreadsUsed& threads,
    OpenedSeries& series, const Outcome& outcome)
{
  mine.Threads = threads.Text;
  mine.OpenSeconds = series.TakeOpenSeconds();
  mine.LocateSeconds += series.PrepareSeconds();
  mine.Metadata = series.Step().Origin();
  mine.Notes.insert(mine.Notes.end(), series.Steps().Notes.begin(), series.Steps().Notes.end());
  if (!outcome.Warning.empty()) {
    mine.Notes.push_back(outcome.Warning);
  }
  const std::string& sidecar = series.Step().Saved().Path;
  if (!sidecar.empty() && !std::exchange(this->ToldOfSidecars, true)) {
    mine.Notes.push_back("PatchIO wrote the index file " + sidecar +
                         ", so that the data open faster the next time. To remove index files, run 'patchio "
                         "index --remove'; to write none, set Metadata Channel to Off");
  }
  if (mine.ThreadsMax == threads.MostOfRank) {
    mine.Notes.push_back(
        "the number of threads per rank is limited to " + std::to_string(threads.MostOfRank));
  }
  this->Data.Last = ranks.Combine(mine);
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
