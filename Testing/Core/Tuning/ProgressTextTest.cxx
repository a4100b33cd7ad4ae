#include "Tuning/IoReport.h"

#include "TestTools.h"

namespace patchio {

TEST(ProgressText, SaysHowFarHowFastAndHowLong)
{
  EXPECT_EQ(ReadingText(1.2e9, 4.8e9, 850e6), "Reading 1.2 of 4.8 GB, 850 MB/s, 5 s left");
  EXPECT_EQ(ReadingText(2e6, 10e6, 4e6), "Reading 2.0 of 10.0 MB, 4.0 MB/s, 2 s left");
  EXPECT_EQ(ReadingText(10e9, 250e9, 2e9), "Reading 10 of 250 GB, 2.0 GB/s, 2 min left");
  EXPECT_EQ(ReadingText(1e12, 20e12, 1e9), "Reading 1.0 of 20.0 TB, 1.0 GB/s, 5.3 h left");
}

TEST(ProgressText, SaysNothingOfTimeBeforeTheFirstByte)
{
  EXPECT_EQ(ReadingText(0, 4.8e9, 0), "Reading 0.0 of 4.8 GB");
  EXPECT_EQ(ReadingText(0, 0, 0), "Reading");
}

TEST(ProgressText, SaysNoTimeWhenAllBytesHaveCome)
{
  EXPECT_EQ(ReadingText(380e3, 380e3, 7e6), "Reading 380 of 380 kB, decoding");
  // Bytes of gaps may count among the bytes read, but not among the bytes to read.
  EXPECT_EQ(ReadingText(600, 512, 1000), "Reading 512 of 512 bytes, decoding");
  EXPECT_EQ(ReadingText(379.9e3, 380e3, 7e6), "Reading 379 of 380 kB, 7.0 MB/s, 1 s left");
  EXPECT_EQ(ReadingText(4.79e9, 4.8e9, 850e6), "Reading 4.7 of 4.8 GB, 850 MB/s, 1 s left");
}

TEST(ProgressText, AgreesWithTheBar)
{
  EXPECT_DOUBLE_EQ(ReadingFraction(190e3, 380e3, 0.1), 0.5);
  EXPECT_DOUBLE_EQ(ReadingFraction(600, 512, 0.1), 1);
  EXPECT_DOUBLE_EQ(ReadingFraction(0, 380e3, 0.1), 0);
  EXPECT_DOUBLE_EQ(ReadingFraction(0, 0, 0.1), 0.1) << "no bytes are known";
}

TEST(ProgressText, FitsIntoAStatusBar)
{
  EXPECT_LT(ReadingText(999.9e12, 99999e12, 99.9e6).size(), 100u);
}

}  // namespace patchio
