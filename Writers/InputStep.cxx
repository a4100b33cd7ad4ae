#include "InputStep.h"

#include "ArraysToWrite.h"
#include "Catalog/Nesting.h"
#include "Container/StepLayout.h"
#include "GridsToWrite.h"
#include "Plan/Grids.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
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
  RunOnAllRanks(ranks, [&] { this->Grids = InputGridsOf(data); });
  std::vector<std::vector<unsigned char>> flags(this->Grids.size());
  do {  // a piece that loses cells covers less, so this is repeated for coarser levels
    this->FindPieces(flags, isWanted);
  } while (this->FindUncovered(flags));
  const bool known = std::all_of(
      this->Pieces.begin(), this->Pieces.end(), [](const PieceForm& piece) { return piece.Level >= 0; });
  const std::size_t grids = GridsOf(this->Whole.Data).size();
  if (grids > 1 && !known) {
    this->NotesOfAll.push_back(fmt::format(
        "The container gets {} separate grids. Select the grids to show with the reader property Grids.",
        grids));
  }
}

/// Collective: the pieces of all ranks, their catalog and the notes on them. flags: by grid, see PiecesOf().
void InputStep::FindPieces(const std::vector<std::vector<unsigned char>>& flags, const ArrayChoice& isWanted)
{
  std::vector<PieceForm> mine;
  std::set<std::string> notes;
  RunOnAllRanks(this->Ranks, [&] {
    for (std::size_t i = 0; i < this->Grids.size(); ++i) {
      for (PieceForm& piece : PiecesOf(this->Grids[i], flags[i], isWanted, notes)) {
        piece.Rank = this->Ranks.Rank();
        piece.Grid = static_cast<int>(i);
        mine.push_back(std::move(piece));
      }
    }
  });
  this->Pieces.clear();
  for (const std::string& bytes : this->Ranks.AllGather(TextOf(BytesOf(mine)))) {
    TakePieces(bytes, this->Pieces);
  }
  std::string lines;
  for (const std::string& note : notes) {
    lines += note + "\n";
  }
  std::set<std::string> all;
  for (const std::string& text : this->Ranks.AllGather(lines)) {
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      all.insert(text.substr(begin, end - begin));
    }
  }
  this->NotesOfAll = {all.begin(), all.end()};
  this->Whole = MakeStepCatalog(this->Pieces);
}

/// Collective: marks refined cells that no finer piece covers, as those of regions and of levels that were
/// not read. Returns whether there are some on any rank that were not marked before.
bool InputStep::FindUncovered(std::vector<std::vector<unsigned char>>& flags) const
{
  const Catalog& data = this->Whole.Data;
  const auto hides = [](const PieceForm& piece) { return piece.Hides; };
  if (!data.HasPlacedBoxes() || std::none_of(this->Pieces.begin(), this->Pieces.end(), hides)) {
    return false;
  }
  bool found = false;
  RunOnAllRanks(this->Ranks, [&] {
    const Nesting nesting(data, std::vector<bool>(data.Patches.size(), true));
    for (int patch = 0; patch < static_cast<int>(data.Patches.size()); ++patch) {
      const PieceForm& piece = this->Pieces[this->Whole.PieceOf[patch]];
      if (piece.Rank == this->Ranks.Rank() && piece.Hides) {
        const bool marked = MarkUncovered(
            this->Grids[piece.Grid].Grid, piece, nesting.CoveredCells(patch), flags[piece.Grid]);
        found = found || marked;
      }
    }
  });
  return !AllOf(this->Ranks, !found);
}

void InputStep::WriteTo(container::ContainerWriter& into, container::CompressionChoice compression)
{
  Batch batch;
  RunOnAllRanks(this->Ranks, [&] { batch = this->BatchFrom(0, MostCopiedBytes, false); });
  container::StepToWrite toWrite{this->Whole.Data, this->Whole.Types, {}};
  toWrite.Compression = container::ChooseCompression(this->Ranks, toWrite, compression, batch.Values);
  const auto step = into.Begin(std::move(toWrite));
  RunOnAllRanks(this->Ranks, [&] {
    while (!batch.Values.empty()) {
      step->Write(batch.Values, Threads);
      const std::size_t next = batch.End;
      batch = {};
      batch = this->BatchFrom(next, MostCopiedBytes, false);
    }
  });
  into.Commit(*step);
}

void InputStep::GiveTo(
    output::CatalogOutput& to, std::size_t channel, container::CompressionChoice compression)
{
  constexpr std::uint64_t all = ~std::uint64_t(0);
  container::StepToWrite toWrite{this->Whole.Data, this->Whole.Types, {}};
  Batch sample;
  if (compression == container::CompressionChoice::Auto) {
    RunOnAllRanks(this->Ranks, [&] { sample = this->BatchFrom(0, MostCopiedBytes, false); });
  }
  toWrite.Compression = container::ChooseCompression(this->Ranks, toWrite, compression, sample.Values);
  to.Write(channel, std::move(toWrite), this->BytesOfMine(), [this](bool copies) {
    const auto batch = std::make_shared<Batch>(this->BatchFrom(0, all, copies));
    return output::HeldValues{batch->Values, batch};
  });
}

std::uint64_t InputStep::BytesOfMine() const
{
  const Catalog& data = this->Whole.Data;
  std::uint64_t bytes = 0;
  for (int patch = 0; patch < static_cast<int>(data.Patches.size()); ++patch) {
    const bool isMine = this->Pieces[this->Whole.PieceOf[patch]].Rank == this->Ranks.Rank();
    for (int v = 0; v < static_cast<int>(data.Variables.size()) && isMine; ++v) {
      bytes += data.PresenceOf(v, patch) == Presence::Stored
                   ? container::ValuesOf(data, v, patch) * SizeOf(this->Whole.Types[v])
                   : 0;
    }
  }
  return bytes;
}

/// All that is left, unless too much must be copied.
InputStep::Batch InputStep::BatchFrom(std::size_t begin, std::uint64_t most, bool copies) const
{
  Batch batch;
  std::uint64_t copied = 0;
  for (batch.End = begin; batch.End < this->Whole.Data.Patches.size() && copied < most; ++batch.End) {
    if (this->Pieces[this->Whole.PieceOf[batch.End]].Rank == this->Ranks.Rank()) {
      copied += this->AddPatch(batch.End, batch, copies);
    }
  }
  return batch;
}

/// Returns how many bytes were copied.
std::uint64_t InputStep::AddPatch(std::size_t patch, Batch& batch, bool copies) const
{
  const Catalog& data = this->Whole.Data;
  const PieceForm& piece = this->Pieces[this->Whole.PieceOf[patch]];
  std::uint64_t copied = 0;
  for (const ArrayForm& array : piece.Arrays) {
    const int v = this->Whole.VariableOf.at(KeyOf(array));
    if (data.PresenceOf(v, static_cast<int>(patch)) == Presence::Stored) {
      const bool cells = array.Center == Centering::Cell;
      const ValuesToWrite& one =
          batch.Held.emplace_back(ArrayOf(this->Grids[piece.Grid].Grid, array), this->Whole.Types[v],
              data.Variables[v].Components, cells ? piece.Whole : NodesOf(piece, piece.Whole),
              cells ? piece.Cells : NodesOf(piece, piece.Cells), copies);
      batch.Values.push_back({static_cast<int>(patch), v, one.Data()});
      copied += one.Bytes();
    }
  }
  return copied;
}

}  // namespace patchio
