#include "Read/ReadPatchData.h"

#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Read/OpenedStep.h"
#include "Read/RankRead.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

namespace patchio {
namespace {

/// An error with the code that the caller gets.
class CodedError : public Error
{
public:
  CodedError(ReadError code, const std::string& message) : Error(message), Code(code) {}
  ReadError Code;
};

void CheckArray(ReadError code, const char* array, bool isNull, const char* length, int count)
{
  if (count < 0) {
    throw CodedError(code, fmt::format("{} is {}, but must not be negative.", length, count));
  }
  if (isNull && count > 0) {
    throw CodedError(code, fmt::format("{} is {}, but {} is NULL.", length, count, array));
  }
}

/// Makes all checks of the arguments that are possible without the catalog. Throws CodedError.
void CheckArguments(const int* patchIds, int patchCount, const char* const* names, int nameCount)
{
  CheckArray(ReadError::UnknownPatch, "patchIds", !patchIds, "patchCount", patchCount);
  CheckArray(ReadError::UnknownVariable, "variableNames", !names, "variableCount", nameCount);
  for (int i = 0; i < nameCount; ++i) {
    if (!names[i]) {
      throw CodedError(ReadError::UnknownVariable, fmt::format("variableNames[{}] is NULL.", i));
    }
  }
}

std::vector<VariableRequest> RequestVariables(const Catalog& catalog, const char* const* names, int count)
{
  std::vector<VariableRequest> requests;
  for (int i = 0; i < count; ++i) {
    const int variable = catalog.FindVariable(names[i]);
    if (variable < 0) {
      throw CodedError(
          ReadError::UnknownVariable, fmt::format("{} has no variable '{}'.", catalog.Path, names[i]));
    }
    requests.push_back(RequestAsStored(catalog, variable));
  }
  for (std::size_t v = 0; !names && v < catalog.Variables.size(); ++v) {
    requests.push_back(RequestAsStored(catalog, static_cast<int>(v)));
  }
  return requests;
}

void CheckPatches(const Catalog& catalog, const std::vector<int>& patches)
{
  for (const int patch : patches) {
    if (patch < 0 || patch >= static_cast<int>(catalog.Patches.size())) {
      throw CodedError(
          ReadError::UnknownPatch, fmt::format("{} has no patch {}. Patches are numbered 0 to {}.",
                                       catalog.Path, patch, static_cast<int>(catalog.Patches.size()) - 1));
    }
  }
}

VariableData MoveToVariableData(LoadedArray& array, const std::string& name)
{
  VariableData data;
  data.Name = name;
  data.Error = array.Status == ArrayStatus::Failed ? ReadError::BadData : ReadError::None;
  data.Absent = array.Status == ArrayStatus::Absent;
  if (array.Status == ArrayStatus::Read) {
    data.Type = array.Type;
    data.Components = array.Components;
    data.Tuples = array.Tuples;
    data.Bytes = array.Tuples * array.Components * SizeOf(array.Type);
    data.Data = std::move(array.Values);
  }
  return data;
}

ReadPatchDataResult MoveToResult(LoadResult& loaded, const Catalog& catalog, const LoadRequest& request)
{
  ReadPatchDataResult result;
  result.Report = loaded.Report;
  for (std::size_t p = 0; p < request.Blocks.size(); ++p) {
    PatchData& patch = result.Patches.emplace_back();
    patch.Id = request.Blocks[p].Parts[0].Owner;
    for (std::size_t v = 0; v < request.Variables.size(); ++v) {
      patch.Variables.push_back(
          MoveToVariableData(loaded.At(p, v), catalog.Variables[request.Variables[v].Variable].Name));
    }
  }
  if (!loaded.Faults.empty()) {
    result.Error = ReadError::BadData;
    result.Message = fmt::format("{} of {} arrays cannot be read. The first error: {}", loaded.Faults.size(),
        loaded.Arrays.size(), loaded.Faults[0].Message);
  }
  return result;
}

ReadPatchDataResult Failure(ReadError code, const std::string& message)
{
  ReadPatchDataResult result;
  result.Error = code;
  result.Message = message;
  return result;
}

}  // namespace

ReadPatchDataResult ReadPatchData(const std::string& summaryFile, const int* patchIds, int patchCount,
    const char* const* variableNames, int variableCount, int threads)
{
  const Stopwatch watch;
  ReadError ofErrors = ReadError::BadSummary;  // code for an Error at the current stage
  ReadError ofOthers = ReadError::BadSummary;  // code for any other exception but std::bad_alloc
  try {
    CheckArguments(patchIds, patchCount, variableNames, variableCount);
    // A call reads few values: an existing index file saves time, but building a new index would take more
    // time than it saves.
    const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
    OpenedStep step(*alone, summaryFile, IndexMode::ReadOnly);
    if (step.Data().StepInFile != 0) {  // an index describes the step that was current when it was made
      step.SetStep(*alone, {summaryFile, step.Data().Time, step.Data().Step, 0});
    }
    const Catalog& catalog = step.Data();
    const double openSeconds = watch.Seconds();
    LoadRequest request;
    const std::vector<int> patches(patchIds, patchIds + patchCount);
    CheckPatches(catalog, patches);
    request.Blocks = BlocksOfPatches(catalog, patches);
    request.Variables = RequestVariables(catalog, variableNames, variableCount);
    request.Threads = std::max(threads, 1);
    ofOthers = ReadError::Internal;
    const auto locate = [&](const std::vector<PatchVariable>& requests) {
      return step.Locate(requests, request.Threads, {}, request.Verify);
    };
    RankRead read(locate, step.SharedData(), std::make_shared<const LoadRequest>(request));
    // Read() returns faults of files in its result. An Error of Read() counts as a lack of memory, its usual
    // reason.
    ofErrors = ReadError::OutOfMemory;
    LoadResult loaded = read.Read();
    ReadPatchDataResult result = MoveToResult(loaded, catalog, request);
    result.Report.Metadata = step.Origin();
    result.Report.OpenSeconds = openSeconds;
    return result;
  } catch (const CodedError& error) {
    return Failure(error.Code, error.what());
  } catch (const Error& error) {
    return Failure(ofErrors, error.what());
  } catch (const std::bad_alloc&) {
    return Failure(ReadError::OutOfMemory,
        fmt::format("{}: the memory is too small for the read. Request fewer patches or variables per call.",
            summaryFile));
  } catch (const std::exception& error) {
    return Failure(ofOthers, fmt::format("{}: {}.", summaryFile, error.what()));
  }
}

}  // namespace patchio
