// The file Header of a plotfile: everything but boxes and values.
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
  std::string Prefix;  ///< of the level's files, from the plotfile's folder: "Level_0/Cell"
};

struct PlotHeader
{
  std::vector<std::string> Names;  ///< of the components, as they stand there
  int Dimension = 3;
  double Time = 0;
  std::int64_t Step = 0;
  Double3 Corner{0, 0, 0};    ///< lower corner of the domain
  Double3 FirstBox{0, 0, 0};  ///< lower corner of the first box of level 0
  std::vector<int> Ratios;    ///< as written, one number for all axes; may be empty
  int Coordinates = 0;        ///< 0: Cartesian, 1: cylindrical, 2: spherical
  std::vector<LevelHeader> Levels;
};

/// True for the first line of a plotfile's Header: the name of a code's plotfiles and their version, as
/// "HyperCLaw-V1.1".
bool IsPlotVersion(std::string_view line);
/// True for the first line of a checkpoint's Header.
bool IsCheckpointVersion(std::string_view line);

/// Throws Error when the file is no plotfile's or something in it cannot be.
PlotHeader ReadPlotHeader(const std::string& path);

/// The same without the boxes and files of levels; reads the first lines.
PlotHeader ReadPlotTop(const std::string& path);

/// Time and step alone; reads the first lines.
TimeStep ReadPlotHead(const std::string& path);

}  // namespace patchio::amrex
