// The file Header of a plotfile, which describes everything except boxes and values.
#pragma once

#include "Catalog/Box.h"
#include "Formats/AMReX/AmrexText.h"
#include "Formats/Format.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::amrex {

struct LevelHeader
{
  Box Domain;
  Double3 Spacing{1, 1, 1};
  std::int64_t Boxes = 0;
  std::string Prefix;  ///< prefix of the level's files, relative to the plotfile's folder: "Level_0/Cell"
};

struct PlotHeader
{
  std::vector<std::string> Names;  ///< of the components, unchanged
  int Dimension = 3;
  double Time = 0;
  std::int64_t Step = 0;
  Double3 Corner{0, 0, 0};    ///< lower corner of the domain
  Double3 FirstBox{0, 0, 0};  ///< lower corner of the first box of level 0
  std::vector<int> Ratios;    ///< as written, one number for all axes; may be empty
  int Coordinates = 0;        ///< 0: Cartesian, 1: cylindrical, 2: spherical
  std::vector<LevelHeader> Levels;
};

/// Returns whether the line is the first line of a plotfile's Header: the name of a code's plotfiles and
/// their version, such as "HyperCLaw-V1.1".
bool IsPlotVersion(std::string_view line);
/// Returns whether the line is the first line of a checkpoint's Header.
bool IsCheckpointVersion(std::string_view line);

/// Reads a Header. Throws Error when the file does not belong to a plotfile or its contents are invalid.
PlotHeader ReadPlotHeader(const std::string& path);

/// Reads the first lines of a Header: everything except the boxes and files of levels. Throws Error.
PlotHeader ReadPlotTop(const std::string& path);

/// Reads the first lines of a Header for its time and step. Throws Error.
TimeStep ReadPlotHead(const std::string& path);

}  // namespace patchio::amrex
