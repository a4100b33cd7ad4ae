#include "PythonScript.h"
#include "Session.h"
#include "Subcommands.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace patchio::tools {
namespace {

struct ReferencesOptions
{
  std::string Path;
  std::string Out;
  std::string Prefix;
  std::string Python;
  bool ListedOnly = false;
};

void Run(const ReferencesOptions& options, Session& session)
{
  std::vector<std::string> arguments{options.Path, options.Out};
  if (!options.Prefix.empty()) {
    arguments.push_back("--prefix=" + options.Prefix);
  }
  if (options.ListedOnly) {
    arguments.emplace_back("--listed-only");
  }
  RunPythonScriptOnRoot("references.py", arguments, options.Python, session);
}

}  // namespace

void AddReferences(CLI::App& program, Session& session)
{
  CLI::App* command = program.add_subcommand("references",
      "Write references to the bytes of all values (kerchunk's JSON format). With the references, zarr and "
      "xarray read the same files, also from an object store");
  const auto options = std::make_shared<ReferencesOptions>();
  AddPath(*command, options->Path);
  command->add_option("out", options->Out, "The file to write, such as refs.json")->required();
  command->add_option("--prefix", options->Prefix,
      "Prefix of the file names in the references, such as s3://bucket/run/ (default: the folder of the "
      "data)");
  command->add_flag("--listed-only", options->ListedOnly,
      "SAMRAI, AMReX: leave out steps in the folder that the path does not list");
  command->add_option("--python", options->Python, "Python interpreter that has the package patchio");
  command->callback([options, &session] { Run(*options, session); });
}

}  // namespace patchio::tools
