#include "Io/FileSource.h"

#include "Io/IoScheduler.h"
#include "Io/ReadTask.h"
#include "TestTools.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <atomic>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::MessageOf;
using testing::TempFolder;
using testing::WriteText;

std::string ReadText(Source::File& file, std::uint64_t offset, std::size_t bytes)
{
  std::string text(bytes, '?');
  file.Read(offset, text.data(), bytes);
  return text;
}

/// Lowers the number of files that this process may have open.
class FewFiles
{
public:
  explicit FewFiles(rlim_t count)
  {
    ::getrlimit(RLIMIT_NOFILE, &this->Before);
    const struct rlimit few
    {
      count, this->Before.rlim_max
    };
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &this->Before); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

private:
  struct rlimit Before;
};

/// Makes the files 0 .. count - 1; each contains its number with six digits.
std::vector<std::string> NumberedFiles(const TempFolder& folder, int count)
{
  std::vector<std::string> paths;
  for (int i = 0; i < count; ++i) {
    paths.push_back(folder / std::to_string(i));
    WriteText(paths.back(), std::to_string(100000 + i));
  }
  return paths;
}

}  // namespace

TEST(FileSource, ReadsAnywhereInAFile)
{
  const TempFolder folder;
  WriteText(folder / "a", "0123456789");
  const auto file = MakeFileSource({folder / "a"})->Open(0);
  EXPECT_EQ(ReadText(*file, 0, 10), "0123456789");
  EXPECT_EQ(ReadText(*file, 7, 3), "789");
  EXPECT_EQ(ReadText(*file, 3, 0), "");
}

TEST(FileSource, TriesAFileThatCannotBeOpenedOnce)
{
  const TempFolder folder;
  const auto source = MakeFileSource({folder / "late"});
  const std::string message = MessageOf([&] { source->Open(0); });
  EXPECT_THAT(message, HasSubstr(folder / "late"));
  EXPECT_THAT(message, HasSubstr("No such file or directory"));
  WriteText(folder / "late", "here now");
  EXPECT_EQ(MessageOf([&] { source->Open(0); }), message);
  EXPECT_NO_THROW(MakeFileSource({folder / "late"})->Open(0));
}

TEST(FileSource, SaysHowFarAShortFileReaches)
{
  const TempFolder folder;
  WriteText(folder / "a", "0123456789");
  const auto file = MakeFileSource({folder / "a"})->Open(0);
  const std::string message = MessageOf([&] { ReadText(*file, 8, 5); });
  EXPECT_THAT(message, HasSubstr("expected 5 bytes at offset 8, found the end of the file after 2"));
  EXPECT_THAT(MessageOf([&] { ReadText(*file, 100, 1); }), HasSubstr("the end of the file after 0"));
  EXPECT_EQ(ReadText(*file, 0, 10), "0123456789");
  std::filesystem::resize_file(folder / "a", 4);
  EXPECT_THAT(MessageOf([&] { ReadText(*file, 0, 10); }), HasSubstr("the end of the file after 4"));
}

TEST(FileSource, SharesAFileWhileItIsHeldAndClosesItThen)
{
  const TempFolder folder;
  const auto source = MakeFileSource(NumberedFiles(folder, 2));
  auto file = source->Open(0);
  EXPECT_EQ(source->Open(0), file);
  EXPECT_NE(source->Open(1), file);
  std::filesystem::remove(folder / "0");
  EXPECT_EQ(ReadText(*source->Open(0), 0, 6), "100000") << "still the file that is held";
  file.reset();
  EXPECT_THROW(source->Open(0), Error) << "opened anew, and gone";
}

TEST(FileSource, RefusesWhatIsNoFile)
{
  const TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto source = MakeFileSource({folder / "pipe", folder.Path()});
  EXPECT_THAT(MessageOf([&] { source->Open(0); }), HasSubstr("expected a file, found a pipe or a device"));
  EXPECT_THAT(MessageOf([&] { source->Open(1); }), HasSubstr("expected a file, found a folder"));
}

TEST(FileSource, FillsSeveralBuffersInOneRead)
{
  const TempFolder folder;
  const auto source = MakeFileSource(NumberedFiles(folder, 1));
  std::string a(2, '?'), b(3, '?');
  source->Open(0)->Read(1, {{a.data(), 2}, {nullptr, 0}, {b.data(), 3}});
  EXPECT_EQ(a, "00");
  EXPECT_EQ(b, "000");
  EXPECT_THAT(testing::MessageOf([&] {
    source->Open(0)->Read(3, {{a.data(), 2}, {b.data(), 3}});
  }),
      ::testing::HasSubstr("5 bytes at offset 3, found the end of the file after 3"));
}

TEST(FileSource, ReadsMoreFilesThanMayBeOpen)
{
  constexpr int count = 300;
  const TempFolder folder;
  const auto source = MakeFileSource(NumberedFiles(folder, count));
  const FewFiles few(40);
  std::vector<std::shared_ptr<Source::File>> held;
  ASSERT_THROW(
      for (int i = 0; i < count; ++i) { held.push_back(source->Open(i)); }, Error)
      << "the limit has no effect, so this test shows nothing";
  held.clear();

  ReadMeter meter;
  const auto reader = MakeTaskReaders(*source, meter);
  std::atomic<int> right{0};
  RunTasks(count, 8, [&](std::size_t task) {
    std::string text(4, '?');
    reader().Read(static_cast<int>(task), 2, {{text.data(), 4}});
    right += text == std::to_string(100000 + task).substr(2) ? 1 : 0;
  });
  EXPECT_EQ(right, count);
}

}  // namespace patchio
