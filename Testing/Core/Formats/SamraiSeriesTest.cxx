#include "Formats/SAMRAI/SamraiFormat.h"

#include "SamraiDraft.h"
#include "TestTools.h"

#include <unistd.h>

namespace patchio {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A folder of dumps that hold only time and step.
class SamraiSeries : public ::testing::Test
{
protected:
  void AddDump(const std::string& name, int step, double time, const std::string& summary = "summary.samrai")
  {
    std::filesystem::create_directories(this->Folder / name);
    testing::WriteHdf5(
        this->Folder / (name + "/" + summary), {{"/BASIC_INFO/time", testing::Doubles({time})},
                                                   {"/BASIC_INFO/time_step_number", testing::Ints({step})}});
  }

  void WriteIndex(const std::string& text) { testing::WriteText(this->Index, text); }

  Series Open(bool listedOnly = false) const { return this->Format.OpenSeries(this->Index, {listedOnly}); }

  std::vector<std::int64_t> StepsOf(const Series& series) const
  {
    std::vector<std::int64_t> steps;
    for (const TimeStep& step : series.Steps) {
      steps.push_back(step.Step);
    }
    return steps;
  }

  testing::TempFolder Folder;
  std::string Index = this->Folder / "dumps.visit";
  samrai::SamraiFormat Format;
};

}  // namespace

TEST_F(SamraiSeries, NotesWhatIsLeftOut)
{
  std::filesystem::create_directories(this->Folder / "visit_dump.00003");
  const std::string summary = this->Folder / "visit_dump.00003/summary.samrai";
  testing::Hdf5Draft draft{{"/BASIC_INFO/time", testing::Doubles({0.5})},
      {"/BASIC_INFO/time_step_number", testing::Ints({3})},
      {"/BASIC_INFO/var_names", testing::Texts({"density", "pressure", "energy"})},
      {"/BASIC_INFO/material_state_variable", testing::Ints({1, 0, 1})},
      {"/visit_expressions/expression_keys", testing::Texts({"Error", "Speed"})}};
  testing::WriteHdf5(summary, draft);
  this->WriteIndex("visit_dump.00003/summary.samrai\n");
  const std::vector<std::string> wanted{
      "PatchIO skips VisIt expressions: 'Error', 'Speed'; use ParaView's Calculator for them",
      "PatchIO skips values per material (material_state), and shows the values of whole cells: 'density', "
      "'energy'"};
  EXPECT_EQ(this->Open().Notes, wanted);
  EXPECT_EQ(this->Format.OpenSeries(summary, {}).Notes, wanted);
  // A damaged part is reported when the step is read.
  draft["/BASIC_INFO/material_state_variable"] = testing::Ints({1, 0, 1, 1});
  testing::WriteHdf5(summary, draft);
  EXPECT_THAT(this->Open().Notes, IsEmpty());
}

TEST_F(SamraiSeries, TakesAnyFormOfIndex)
{
  struct Form
  {
    std::string Summary;  ///< name of the summary files of the steps 0 and 1
    std::string Index;
  };
  const std::vector<Form> forms{{"summary.samrai",
                                    "!NBLOCKS 1\r\n\r\nvisit_dump.00000/summary.samrai\r\n./visit_dump.00000/"
                                    "summary.samrai\r\nvisit_dump.00001/summary.samrai  "},
      {"summary.samrai", ""}, {"head.samrai", "visit_dump.00001/head.samrai\n"}};
  for (const Form& form : forms) {
    std::filesystem::remove_all(this->Folder / "visit_dump.00000");
    std::filesystem::remove_all(this->Folder / "visit_dump.00001");
    this->AddDump("visit_dump.00000", 0, 0, form.Summary);
    this->AddDump("visit_dump.00001", 1, 0, form.Summary);
    this->WriteIndex(form.Index);
    EXPECT_THAT(this->StepsOf(this->Open()), ElementsAre(0, 1)) << form.Index;
  }
}

TEST_F(SamraiSeries, AddsDumpsThatTheIndexForgotAndSaysSo)
{
  this->AddDump("visit_dump.00000", 0, 0);
  this->AddDump("visit_dump.00005", 5, 1);
  this->WriteIndex("visit_dump.00005/summary.samrai\n");
  const Series series = this->Open();
  EXPECT_THAT(this->StepsOf(series), ElementsAre(0, 5));
  EXPECT_THAT(series.Notes,
      ElementsAre(HasSubstr("does not list 1 of the dumps in its folder. PatchIO shows these dumps, too, "
                            "because a restarted run lists only its own dumps")));
  const Series listed = this->Open(true);
  EXPECT_THAT(this->StepsOf(listed), ElementsAre(5));
  EXPECT_THAT(listed.Notes, IsEmpty());
}

TEST_F(SamraiSeries, GetsByWithTheIndexWhereItsFolderCannotBeListed)
{
  this->AddDump("visit_dump.00000", 0, 0);
  this->AddDump("visit_dump.00005", 5, 1);
  this->WriteIndex("visit_dump.00005/summary.samrai\n");
  std::filesystem::permissions(this->Folder.Path(), std::filesystem::perms(0111));
  const uid_t user = ::geteuid();
  const uid_t nobody = 65534;
  ASSERT_TRUE(user != 0 || ::seteuid(nobody) == 0) << "root may list everything";
  const Series series = this->Open();
  ASSERT_EQ(::seteuid(user), 0);
  std::filesystem::permissions(this->Folder.Path(), std::filesystem::perms(0700));
  EXPECT_THAT(this->StepsOf(series), ElementsAre(5));
}

TEST_F(SamraiSeries, LeavesOutBrokenDumpsAndSaysWhy)
{
  this->AddDump("visit_dump.00000", 0, 0);
  this->AddDump("visit_dump.00002", 2, 0);
  testing::WriteText(this->Folder / "visit_dump.00002/summary.samrai", "damaged");
  this->WriteIndex(
      "visit_dump.00000/summary.samrai\nvisit_dump.00001/summary.samrai\nvisit_dump.00002/summary.samrai\n");
  const Series series = this->Open();
  EXPECT_THAT(this->StepsOf(series), ElementsAre(0));
  EXPECT_THAT(series.Warnings, ElementsAre(AllOf(HasSubstr("visit_dump.00001"), HasSubstr("No such file")),
                                   AllOf(HasSubstr("visit_dump.00002"), HasSubstr("not HDF5"))));
}

TEST_F(SamraiSeries, SaysWhenTheIndexIsMissing)
{
  const std::string message = testing::MessageOf([this] { this->Open(); });
  EXPECT_THAT(message, HasSubstr(this->Index));
  EXPECT_THAT(message, HasSubstr("No such file"));
}

TEST_F(SamraiSeries, SaysWhyWhenNoDumpIsGood)
{
  this->WriteIndex("nothing here\n");
  EXPECT_THAT(testing::MessageOf([this] { this->Open(); }), HasSubstr("found no dumps"));
  this->WriteIndex("visit_dump.00001/summary.samrai\n");
  const std::string message = testing::MessageOf([this] { this->Open(); });
  EXPECT_THAT(message, HasSubstr("PatchIO skips all dumps"));
  EXPECT_THAT(message, HasSubstr("visit_dump.00001"));
}

TEST_F(SamraiSeries, SaysWhatToOpenInsteadOfAClusterFile)
{
  testing::WriteHdf5(
      this->Folder / "processor_cluster.00000.samrai", {{"/processor.00000/x", testing::Ints({1})}});
  EXPECT_THAT(testing::MessageOf(
                  [this] { this->Format.OpenSeries(this->Folder / "processor_cluster.00000.samrai", {}); }),
      HasSubstr("Open dumps.visit or summary.samrai"));
}

}  // namespace patchio
