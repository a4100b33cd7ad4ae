#include "LinAdv/Exchange.h"

#include <algorithm>

namespace patchio::linadv {
namespace {

Int3 Negative(const Int3& shift)
{
  return {-shift[0], -shift[1], -shift[2]};
}

std::size_t CountCells(const std::vector<CellCopy>& copies)
{
  std::size_t cells = 0;
  for (const CellCopy& copy : copies) {
    cells += copy.Region.Cells();
  }
  return cells;
}

/// Visits the region's rows along axis 0: visit(first value of the row, number of values).
template <typename AnyArray, typename Visit>
void ForRows(AnyArray& array, const Box& region, Visit visit)
{
  const std::size_t width = region.Width(0);
  for (int k = region.Lower[2]; k <= region.Upper[2]; ++k) {
    for (int j = region.Lower[1]; j <= region.Upper[1]; ++j) {
      visit(array.Values.data() + array.Offset(region.Lower[0], j, k), width);
    }
  }
}

double* Pack(const Field& source, const CellCopy& copy, double* out)
{
  ForRows(source[copy.From], Shift(copy.Region, Negative(copy.Shift)),
      [&](const double* row, std::size_t width) { out = std::copy(row, row + width, out); });
  return out;
}

const double* Unpack(Field& target, const CellCopy& copy, const double* in)
{
  ForRows(target[copy.To], copy.Region, [&](double* row, std::size_t width) {
    std::copy(in, in + width, row);
    in += width;
  });
  return in;
}

std::vector<CellCopy> ReverseList(std::vector<CellCopy> copies)
{
  for (CellCopy& copy : copies) {
    std::swap(copy.From, copy.To);
    copy.Shift = Negative(copy.Shift);
    copy.Region = Shift(copy.Region, copy.Shift);
  }
  return copies;
}

std::map<int, std::vector<CellCopy>> ReverseAll(const std::map<int, std::vector<CellCopy>>& messages)
{
  std::map<int, std::vector<CellCopy>> result;
  for (const auto& [rank, copies] : messages) {
    result[rank] = ReverseList(copies);
  }
  return result;
}

}  // namespace

CopyPlan::CopyPlan(const Grid& source, const std::vector<OwnedBox>& targets, int rank)
{
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const int to = targets[t].Owner;
    source.ForOverlaps(targets[t].Cells, [&](int patch, const Box& region, const Int3& shift) {
      const int from = source.Patches()[patch].Owner;
      const CellCopy copy{patch, static_cast<int>(t), region, shift};
      if (from == rank && to == rank) {
        this->Local.push_back(copy);
      } else if (from == rank) {
        this->Sends[to].push_back(copy);
      } else if (to == rank) {
        this->Receives[from].push_back(copy);
      }
    });
  }
}

CopyPlan CopyPlan::Reversed() const
{
  CopyPlan result;
  result.Local = ReverseList(this->Local);
  result.Sends = ReverseAll(this->Receives);
  result.Receives = ReverseAll(this->Sends);
  return result;
}

void CopyPlan::Run(MPI_Comm comm, const Field& source, Field& target) const
{
  std::map<int, std::vector<double>> outgoing, incoming;
  std::vector<MPI_Request> requests;
  for (const auto& [rank, copies] : this->Receives) {
    std::vector<double>& buffer = incoming[rank];
    buffer.resize(CountCells(copies));
    requests.emplace_back();
    MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_DOUBLE, rank, 0, comm, &requests.back());
  }
  for (const auto& [rank, copies] : this->Sends) {
    std::vector<double>& buffer = outgoing[rank];
    buffer.resize(CountCells(copies));
    double* out = buffer.data();
    for (const CellCopy& copy : copies) {
      out = Pack(source, copy, out);
    }
    requests.emplace_back();
    MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_DOUBLE, rank, 0, comm, &requests.back());
  }
  std::vector<double> row;
  for (const CellCopy& copy : this->Local) {
    row.resize(copy.Region.Cells());
    Pack(source, copy, row.data());
    Unpack(target, copy, row.data());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (const auto& [rank, copies] : this->Receives) {
    const double* in = incoming[rank].data();
    for (const CellCopy& copy : copies) {
      in = Unpack(target, copy, in);
    }
  }
}

}  // namespace patchio::linadv
