// AMReX plotfiles: the contents of valid ones, and the messages about damaged ones.
#include "Formats/AMReX/AmrexFab.h"
#include "Formats/AMReX/AmrexFormat.h"
#include "Formats/AMReX/AmrexText.h"
#include "LocationTools.h"
#include "StoppedLocate.h"
#include "TestTools.h"

#include <fmt/format.h>

#include <set>

namespace fs = std::filesystem;

namespace patchio {
namespace {

using amrex::AmrexFormat;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Replaced;
using testing::TempFolder;
using testing::WriteText;

const std::string LittleDouble = "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))";

/// A plotfile with one level of two boxes of 4 x 4 cells and two components, which a test changes before
/// Write().
struct Draft
{
  std::string Header =
      "HyperCLaw-V1.1\n2\ndensity\nx velocity\n2\n0.5\n0\n1 2 \n5 4 \n\n((0,0) (7,3) (0,0)) \n12 \n0.5 0.5 \n"
      "0\n0\n0 2 0.5\n12\n1 3\n2 4\n3 5\n2 4\nLevel_0/Cell\n";
  std::string Cells =
      "1\n1\n2\n0\n(2 0\n((0,0) (3,3) (0,0))\n((4,0) (7,3) (0,0))\n)\n2\n"
      "FabOnDisk: Cell_D_00000 0\nFabOnDisk: Cell_D_00000 336\n\n2,2\n0,0,\n0,0,\n\n2,2\n1,1,\n1,1,\n";
  std::string Data;

  Draft()
  {
    for (int box = 0; box < 2; ++box) {
      this->Data +=
          "FAB " + LittleDouble + (box == 0 ? "((0,0) (3,3) (0,0)) 2\n" : "((4,0) (7,3) (0,0)) 2\n");
      for (int i = 0; i < 32; ++i) {
        const double value = 100 * box + i;
        this->Data.append(reinterpret_cast<const char*>(&value), 8);
      }
    }
  }

  std::string Write(const TempFolder& folder, const std::string& name = "plt00012") const
  {
    fs::create_directories(folder / name + "/Level_0");
    WriteText(folder / name + "/Header", this->Header);
    WriteText(folder / name + "/Level_0/Cell_H", this->Cells);
    WriteText(folder / name + "/Level_0/Cell_D_00000", this->Data);
    return folder / name;
  }
};

/// Returns the message about a plotfile whose values cannot be located.
std::string FaultOf(const std::string& plotfile)
{
  return MessageOf([&] {
    const AmrexFormat format;
    const Catalog catalog = format.ReadCatalog(plotfile + "/Header");
    const LocationTable table = format.Locate(catalog, testing::AllRequests(catalog), {2, false});
    if (!table.Problems.empty()) {
      throw Error(table.Problems[0].Message);
    }
  });
}

}  // namespace

TEST(AmrexLocator, CanBeStopped)
{
  const TempFolder folder;
  const AmrexFormat format;
  testing::ExpectToStop(format, format.ReadCatalog(Draft().Write(folder) + "/Header"));
}

TEST(AmrexRanges, AreThoseOfEachBox)
{
  const TempFolder folder;
  Draft draft;
  draft.Cells = Replaced(
      draft.Cells, "2,2\n0,0,\n0,0,\n\n2,2\n1,1,\n1,1,\n", "2,2\n-1.5e3,4,\nnan,5,\n\n2,2\n2,6,\n3,7,\n");
  const AmrexFormat format;
  const Catalog catalog = format.ReadCatalog(draft.Write(folder) + "/Header");
  const std::vector<ValueRange> first = format.RangesOf(catalog, 0), second = format.RangesOf(catalog, 1);
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_NEAR(first[0].Least, -1500, 1e-2);
  EXPECT_NEAR(first[0].Greatest, 2, 1e-5);
  EXPECT_TRUE(first[1].Intersects({1e300, 1e300})) << "NaN: nothing is known";
  EXPECT_NEAR(second[1].Least, 5, 1e-5);
  EXPECT_NEAR(second[1].Greatest, 7, 1e-5);
}

TEST(AmrexRanges, ThatAreCutOffAreAnError)
{
  const TempFolder folder;
  Draft draft;
  draft.Cells = Replaced(draft.Cells, "2,2\n1,1,\n1,1,\n", "2,2\n1,1,\n");
  const AmrexFormat format;
  const Catalog catalog = format.ReadCatalog(draft.Write(folder) + "/Header");
  EXPECT_THAT(MessageOf([&] { format.RangesOf(catalog, 0); }), HasSubstr("the greatest values of 2 boxes"));
}

TEST(AmrexFab, RefusesOtherNumbers)
{
  for (const std::string real : {"((8, (64 11 52 0 1 12 0 1023)),(8, (2 1 4 3 6 5 8 7)))",
           "((8, (48 11 36 0 1 12 0 1023)),(6, (6 5 4 3 2 1)))", "((99, (1)))", "((8, (64 11", ""}) {
    amrex::RealKind kind;
    TextScanner words(real);
    EXPECT_FALSE(amrex::ParseRealKind(words, kind)) << real;
  }
}

TEST(AmrexText, GivesLinesAcrossBlocks)
{
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 400'000; ++i) {
    text += std::to_string(i) + "\n";
  }
  WriteText(folder / "long", text + "last");
  amrex::TextLines lines(folder / "long");
  for (int i = 0; i < 400'000; ++i) {
    ASSERT_EQ(lines.NextNumber("a number", i, i), i);
  }
  EXPECT_EQ(lines.Next("a word"), "last");
  EXPECT_EQ(lines.LastLine(), "last");
  EXPECT_THAT(MessageOf([&] { lines.Next("a word"); }),
      AllOf(HasSubstr("a word in line 400002"), HasSubstr("the end of the file")));
}

TEST(AmrexText, RefusesEndlessLines)
{
  const TempFolder folder;
  WriteText(folder / "long", std::string(5 << 20, 'x'));
  amrex::TextLines lines(folder / "long");
  EXPECT_THAT(MessageOf([&] { lines.Next("a word"); }), HasSubstr("more bytes in line 1"));
}

TEST(Amrex, NamesOfVariablesAreUnique)
{
  const TempFolder folder;
  Draft draft;
  draft.Header = Replaced(draft.Header, "\n2\ndensity\nx velocity\n", "\n5\na\na (component 2)\na\n\n \n");
  draft.Cells = Replaced(draft.Cells, "1\n1\n2\n0\n", "1\n1\n5\n0\n");
  const Catalog catalog = AmrexFormat().ReadCatalog(draft.Write(folder) + "/Header");
  std::set<std::string> names;
  for (const Variable& variable : catalog.Variables) {
    names.insert(variable.Name);
  }
  EXPECT_EQ(names.size(), 5u);
  EXPECT_EQ(catalog.Variables[1].Name, "a (component 2)") << "names in the file stay";
  EXPECT_EQ(catalog.Variables[4].Name, "(component 4)");
}

TEST(Amrex, OpensFoldersHeadersAndSeries)
{
  const TempFolder folder;
  const AmrexFormat format;
  const std::string first = Draft().Write(folder);
  Draft later;
  later.Header = Replaced(Replaced(later.Header, "\n0.5\n0\n", "\n0.75\n0\n"), "\n12 \n", "\n100000 \n");
  later.Write(folder, "plt100000");
  later.Write(folder, "other00003");
  later.Write(folder, "plt00012.old.7");
  for (const std::string& path : {first, first + "/", first + "/Header"}) {
    EXPECT_TRUE(format.Claims(path)) << path;
    const Series series = format.OpenSeries(path, {});
    ASSERT_EQ(series.Steps.size(), 2u) << path;
    EXPECT_EQ(series.Steps[0].Path, first + "/Header");
    EXPECT_EQ(series.Steps[1].Step, 100000);
    EXPECT_EQ(series.Steps[1].Time, 0.75);
    SeriesOptions only;
    only.ListedOnly = true;
    EXPECT_EQ(format.OpenSeries(path, only).Steps.size(), 1u) << path;
  }
}

TEST(Amrex, NotesWhatIsLeftOut)
{
  const TempFolder folder;
  Draft draft;
  const AmrexFormat format;
  EXPECT_THAT(format.OpenSeries(draft.Write(folder), {}).Notes, ::testing::IsEmpty());
  draft.Header = Replaced(draft.Header, "\n0\n0\n0 2 0.5", "\n1\n0\n0 2 0.5") +
                 "1\n3\namrexvec_nu_x\namrexvec_nu_y\namrexvec_nu_z\nLevel_0/Nu_nd\n";
  const std::string later = draft.Write(folder, "plt00020");
  for (const char* name : {"ions", "electrons", "electrons.old", "none", "raw_fields/Level_0"}) {
    fs::create_directories(later + "/" + name);
  }
  WriteText(later + "/ions/Header", "Version_Two_Dot_Zero_double\n3\n");
  WriteText(later + "/electrons/Header", "Version_One_Dot_Zero_single\n3\n");
  WriteText(later + "/electrons.old/Header", "Ver");
  WriteText(later + "/raw_fields/Level_0/Bx_aux_H", "1\n");
  WriteText(later + "/raw_fields/Level_0/Bx_aux_D_00000", "1\n");
  const std::vector<std::string> wanted{
      "the coordinates are cylindrical, and PatchIO shows them on straight axes: r as x, z as y",
      "the grid is mapped (Nu_nd), but PatchIO shows cells at their unmapped positions",
      "PatchIO skips raw fields: 'Bx_aux'",
      "PatchIO skips particles: 'electrons', 'ions'; use ParaView's AMReX/BoxLib Particles Reader for them"};
  // The last step is checked, too. More steps do not add notes.
  draft.Write(folder, "plt00021");
  EXPECT_EQ(format.OpenSeries(later, {}).Notes, wanted);
  EXPECT_EQ(format.OpenSeries(later, {true}).Notes, wanted);
  fs::remove_all(folder / "plt00021");
  EXPECT_EQ(format.OpenSeries(folder / "plt00012", {}).Notes, wanted);
  // The nodes are in a file of the level, for any Header.
  draft.Header = Replaced(Draft().Header, "\n0\n0\n0 2 0.5", "\n2\n0\n0 2 0.5");
  const std::string mapped = draft.Write(folder, "mapped");
  WriteText(mapped + "/Level_0/Nu_nd_H", "1\n");
  EXPECT_THAT(format.OpenSeries(mapped, {}).Notes,
      ::testing::ElementsAre(
          HasSubstr("spherical, and PatchIO shows them on straight axes: r as x, theta as y"),
          HasSubstr("the grid is mapped")));
}

TEST(Amrex, LeavesBrokenPlotfilesOfASeriesOut)
{
  const TempFolder folder;
  const std::string first = Draft().Write(folder);
  Draft broken;
  broken.Header = "HyperCLaw-V1.1\n2\n";
  broken.Write(folder, "plt00013");
  const Series series = AmrexFormat().OpenSeries(first, {});
  EXPECT_EQ(series.Steps.size(), 1u);
  ASSERT_EQ(series.Warnings.size(), 1u);
  EXPECT_THAT(series.Warnings[0], AllOf(HasSubstr("plt00013/Header"), HasSubstr("the end of the file")));
}

TEST(Amrex, TakesNoFilesOfOthers)
{
  const TempFolder folder;
  const AmrexFormat format;
  WriteText(folder / "Header", "Version_Two_Dot_Zero_double\n3\n");
  EXPECT_FALSE(format.Claims(folder / "Header"));
  EXPECT_FALSE(format.Claims(folder.Path()));
  WriteText(folder / "Header", "");
  EXPECT_FALSE(format.Claims(folder / "Header"));
  EXPECT_FALSE(format.SeemsBroken(folder / "Header"));
  std::filesystem::create_directory(folder / "Level_0");
  EXPECT_TRUE(format.SeemsBroken(folder / "Header"));
  EXPECT_TRUE(format.SeemsBroken(folder.Path()));
  EXPECT_THAT(MessageOf([&] { format.OpenSeries(folder.Path(), {}); }), HasSubstr("Header"));
  EXPECT_FALSE(format.Claims(folder / "nothing"));
  WriteText(folder / "Header", "CheckPointVersion_1.0\n3\n");
  EXPECT_THAT(MessageOf([&] { format.OpenSeries(folder.Path(), {}); }),
      AllOf(HasSubstr("checkpoint"), HasSubstr("plt")));
}

TEST(Amrex, SaysWhatIsWrong)
{
  struct Fault
  {
    std::string Draft::*Text;  ///< file that is changed
    const char* What;
    const char* With;
    const char* Message;
  };
  const auto header = &Draft::Header, cells = &Draft::Cells, data = &Draft::Data;
  const std::vector<Fault> faults{{header, "\n2\ndensity", "\n-2\ndensity", "in line 2, found '-2'"},
      {header, "\n2\n0.5", "\n1\n0.5", "2 or 3 dimensions"}, {header, "\n2\n0.5", "\n2\nnan", "the time"},
      {header, "0.5 0.5", "0 0.5", "positive cell sizes"},
      {header, "(7,3)", "(7,99999999999)", "a box of cells for each level"},
      {header, "0 2 0.5", "0 2000000000 0.5", "line"},
      {header, "Level_0/Cell", "../Level_0/Cell", "in the folder of the plotfile"},
      {header, "Level_0/Cell", "/etc/passwd", "in the folder of the plotfile"},
      {header, "Level_0/Cell", "Level_7/Cell",
          "Level_7/Cell_H: No such file or directory; expected a readable file"},
      {cells, "1\n1\n2\n", "9\n1\n2\n", "version"}, {cells, "1\n1\n2\n", "1\n1\n3\n", "2 components"},
      {cells, "(2 0\n", "(3 0\n", "2 as the plotfile's Header states"},
      {cells, "((4,0) (7,3) (0,0))", "((4,0) (3,3) (0,0))", "a box of the form"},
      {cells, "((4,0) (7,3) (0,0))", "((4,0) (7,3) (1,0))", "centring"},
      {cells, "((0,0) (3,3) (0,0))", "((-1000000000,-1000000000) (1000000000,1000000000) (0,0))",
          "a box with too many cells"},
      {cells, "Cell_D_00000 336", "../../secret 338", "in the same folder"},
      {cells, "Cell_D_00000 336", "Cell_D_00000 -336", "the file name and offset of a FAB"},
      {cells, "Cell_D_00000 336", "Cell_D_00000 99999999", "a file of 672 bytes"},
      {cells, "Cell_D_00000 336", "Cell_D_00001 0", "Cell_D_00001"},
      {cells, "Cell_D_00000 336", "Cell_D_00000 0", "((4,0) (7,3) (0,0)) with 2 components"},
      {data, "((8,", "(x8,", "a FAB of 4 or 8 byte numbers at byte 0"}};
  for (const auto& [text, what, with, message] : faults) {
    const TempFolder folder;
    Draft draft;
    draft.*text = Replaced(draft.*text, what, with);
    EXPECT_THAT(FaultOf(draft.Write(folder)), HasSubstr(message)) << with;
  }
  const TempFolder folder;
  Draft shorter;
  shorter.Data.resize(600);
  EXPECT_THAT(FaultOf(shorter.Write(folder)), HasSubstr("a file of 600 bytes"));
}

}  // namespace patchio
