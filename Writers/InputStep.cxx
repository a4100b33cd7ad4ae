#include "InputStep.h"

#include "ArraysToWrite.h"
#include "GridsToWrite.h"
#include "Plan/Grids.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

namespace patchio {
namespace {

/// Values that are copied because VTK has them in another form are held until there are so many.
constexpr std::uint64_t MostCopiedBytes = std::uint64_t(256) << 20;
constexpr int Threads = 4;

std::string TextOf(const std::vector<std::byte>& bytes)
{
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

InputStep::InputStep(Communicator& ranks, vtkDataObject* data, const ArrayChoice& isWanted) : Ranks(ranks)
{
  std::vector<PieceForm> mine;
  std::set<std::string> notes;
  RunOnAllRanks(ranks, [&] {
    this->Grids = InputGridsOf(data);
    for (std::size_t i = 0; i < this->Grids.size(); ++i) {
      for (PieceForm& piece : PiecesOf(this->Grids[i], isWanted, notes)) {
        piece.Rank = ranks.Rank();
        piece.Grid = static_cast<int>(i);
        mine.push_back(std::move(piece));
      }
    }
  });
  for (const std::string& bytes : ranks.AllGather(TextOf(BytesOf(mine)))) {
    TakePieces(bytes, this->Pieces);
  }
  std::string lines;
  for (const std::string& note : notes) {
    lines += note + "\n";
  }
  std::set<std::string> all;
  for (const std::string& text : ranks.AllGather(lines)) {
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      all.insert(text.substr(begin, end - begin));
    }
  }
  this->NotesOfAll = {all.begin(), all.end()};
  this->Whole = MakeStepCatalog(this->Pieces);
  const bool known = std::all_of(
      this->Pieces.begin(), this->Pieces.end(), [](const PieceForm& piece) { return piece.Level >= 0; });
  const std::size_t grids = GridsOf(this->Whole.Data).size();
  if (grids > 1 && !known) {
    this->NotesOfAll.push_back(fmt::format(
        "The data become {} grids beside each other; the reader's property Grids says which are shown.",
        grids));
  }
}

void InputStep::WriteTo(container::ContainerWriter& into)
{
  const auto step = into.Begin({this->Whole.Data, this->Whole.Types});
  RunOnAllRanks(this->Ranks, [&] { this->WriteValues(*step); });
  into.Commit(*step);
}

void InputStep::WriteValues(container::StepWriter& step) const
{
  const Catalog& data = this->Whole.Data;
  std::vector<container::PatchValues> values;
  std::deque<ValuesToWrite> held;
  std::uint64_t copied = 0;
  const auto write = [&] {
    step.Write(values, Threads);
    values.clear();
    held.clear();
    copied = 0;
  };
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    const PieceForm& piece = this->Pieces[this->Whole.PieceOf[p]];
    if (piece.Rank != this->Ranks.Rank()) {
      continue;
    }
    for (const ArrayForm& array : piece.Arrays) {
      const int v = this->Whole.VariableOf.at(KeyOf(array));
      if (data.PresenceOf(v, static_cast<int>(p)) != Presence::Stored) {
        continue;
      }
      const bool cells = array.Center == Centering::Cell;
      const ValuesToWrite& one =
          held.emplace_back(ArrayOf(this->Grids[piece.Grid].Grid, array), this->Whole.Types[v],
              data.Variables[v].Components, cells ? piece.Whole : NodesOf(piece, piece.Whole),
              cells ? piece.Cells : NodesOf(piece, piece.Cells));
      values.push_back({static_cast<int>(p), v, one.Data()});
      copied += one.Bytes();
    }
    if (copied >= MostCopiedBytes) {
      write();
    }
  }
  write();
}

}  // namespace patchio
