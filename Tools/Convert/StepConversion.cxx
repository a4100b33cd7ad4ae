#include "Convert/StepConversion.h"

#include "Base/Error.h"
#include "Base/RunOnAllRanks.h"
#include "Formats/Container/StepLayout.h"

#include <fmt/format.h>

#include <future>

namespace patchio::tools {
namespace {

using container::PatchValues;
using container::StepToWrite;
using container::StepWriter;

std::vector<PatchValues> ValuesOf(const std::vector<PatchArrays>& patches)
{
  std::vector<PatchValues> values;
  for (const PatchArrays& one : patches) {
    for (std::size_t v = 0; v < one.Arrays.size(); ++v) {
      if (one.Arrays[v]) {
        values.push_back({one.Patch, static_cast<int>(v), one.Arrays[v]->Values.get()});
      }
    }
  }
  return values;
}

/// This rank's part: a batch is read while the one before it is written. The file that is written takes one
/// writer at a time, as systems have it, but others may be read meanwhile. more: there is a batch, `loaded`.
void WriteAll(SelectedStep& from, bool more, LoadResult loaded, int threads, StepWriter& step,
    const std::function<void(double)>& progress)
{
  LoadResult written;
  std::future<void> writing;
  for (; more; more = from.Next(loaded)) {
    const std::vector<PatchValues> values = ValuesOf(from.ArraysOf(loaded));
    if (writing.valid()) {
      writing.get();
    }
    written = std::move(loaded);
    writing = std::async(std::launch::async, [&step, values, threads] { step.Write(values, threads); });
    progress(from.PartRead());
  }
}

}  // namespace

VariablesInWords WordsOf(const std::vector<Variable>& variables, const std::vector<ElementType>& types)
{
  VariablesInWords words;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    words.insert(fmt::format("'{}' ({}{}, {})", PlainText(variables[v].Name),
        variables[v].Components > 1 ? fmt::format("{} components, ", variables[v].Components) : "",
        variables[v].Center == Centering::Cell ? "cell" : "node", NameOf(types[v])));
  }
  return words;
}

VariablesInWords VariablesToWrite(
    Communicator& ranks, const OpenedStep& from, const ConversionOptions& options)
{
  const SelectedStep selected(ranks, from, options);
  return WordsOf(selected.Data().Variables, selected.Types());
}

ConversionResult ResultOf(const SelectedStep& step)
{
  const Catalog& data = step.Data();
  ConversionResult result;
  result.Patches = data.Patches.size();
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      const std::uint64_t values = container::ValuesOf(data, static_cast<int>(v), static_cast<int>(p));
      result.Arrays += values > 0 ? 1 : 0;
      result.Bytes += values * SizeOf(step.Types()[v]);
    }
  }
  return result;
}

ConversionResult ConvertStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    container::ContainerWriter& into, const std::function<void(double)>& progress)
{
  SelectedStep selected(ranks, from, options);
  bool more = false;
  LoadResult first;
  std::vector<PatchValues> sample;
  RunOnAllRanks(ranks, [&] {
    more = selected.Next(first);
    sample = more ? ValuesOf(selected.ArraysOf(first)) : sample;
  });
  StepToWrite toWrite{selected.Data(), selected.Types(), {}};
  toWrite.Compression = container::ChooseCompression(ranks, toWrite, options.Compression, sample);
  const std::unique_ptr<StepWriter> step = into.Begin(std::move(toWrite));
  RunOnAllRanks(ranks, [&] { WriteAll(selected, more, std::move(first), options.Threads, *step, progress); });
  into.Commit(*step);
  ConversionResult result = ResultOf(selected);
  result.Record = step->Description();
  return result;
}

}  // namespace patchio::tools
