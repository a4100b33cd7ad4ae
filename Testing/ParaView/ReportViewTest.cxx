// Tests the panel of the I/O report, without a window system.
#include "ReportView.h"

#include <gmock/gmock.h>

#include <QApplication>
#include <QHeaderView>
#include <QImage>
#include <QJsonArray>
#include <QLabel>
#include <QTableWidget>

#include <algorithm>
#include <string>

namespace {

constexpr int NarrowDock = 300;  // pixels
/// The colours that only these curves have.
constexpr const char* FlightColor = "#D55E00";

/// Returns the report of a read of this duration, with 8 requests in flight until the end.
QJsonObject ReadOf(double seconds, const QString& file = "/data/run/visit_dump.00016/summary.samrai")
{
  const QJsonObject moments{{"seconds", QJsonArray{0, seconds / 2, seconds}},
      {"bytes", QJsonArray{0, 66e6, 132e6}}, {"in_flight", QJsonArray{0, 8, 0}}};
  const QJsonObject stages{{"open", 0.001}, {"locate", 0.002}, {"read", seconds / 8},
      {"decode", seconds * 7 / 8}, {"assemble", 0.01}};
  return {{"file", file}, {"time", 0.25}, {"ranks", 1}, {"threads_of_rank", QJsonArray{8, 8}},
      {"patches", 37}, {"blocks", 1}, {"bytes", 132e6}, {"in_flight", 6}, {"seconds", stages},
      {"moments", moments},
      {"past", QJsonArray{QJsonObject{{"bytes", 132e6}, {"in_flight", 6}, {"seconds", stages}}}}};
}

class TheReportView : public ::testing::Test
{
protected:
  void Show(const QJsonObject& report, int width = NarrowDock)
  {
    this->View.resize(width, 900);
    this->View.show();
    this->View.SetReport(report, 0.1);
    QCoreApplication::processEvents();
  }
  std::string Summary() const { return this->View.findChild<QLabel*>()->text().toStdString(); }
  /// Returns the number of pixels with a colour.
  int Pixels(const QColor& color)
  {
    const QImage image = this->View.grab().toImage();
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        count += image.pixelColor(x, y) == color ? 1 : 0;
      }
    }
    return count;
  }

  ReportView View{nullptr};
};

}  // namespace

TEST_F(TheReportView, GivesARateThatIsThatOfTheBytesAndTheTimeBesideIt)
{
  this->Show(ReadOf(0.4));
  EXPECT_THAT(this->Summary(), ::testing::HasSubstr("132 MB read and decoded in 400 ms, <b>330 MB/s</b>"));
  EXPECT_THAT(this->Summary(), ::testing::HasSubstr("<b>visit_dump.00016</b>, time 0.25"));
  EXPECT_THAT(this->Summary(), ::testing::HasSubstr("1 rank \u00d7 8 threads, 37 patches in 1 block"));
}

TEST_F(TheReportView, FitsIntoANarrowDock)
{
  this->Show(ReadOf(0.4, "/data/" + QString(100, 'a') + ".pio"));
  EXPECT_LE(this->View.minimumSizeHint().width(), NarrowDock);
  const auto* table = this->View.findChild<QTableWidget*>();
  EXPECT_LE(table->horizontalHeader()->length(), table->viewport()->width());
  for (int column = 0; column < table->columnCount(); ++column) {
    for (int row = 0; row < table->rowCount(); ++row) {
      const QString text = table->item(row, column)->text();
      EXPECT_GT(table->columnWidth(column), table->fontMetrics().horizontalAdvance(text))
          << text.toStdString();
    }
    EXPECT_GE(table->columnWidth(column), table->horizontalHeader()->sectionSizeHint(column));
  }
  const int label = table->fontMetrics().horizontalAdvance("100 %");
  EXPECT_GE(table->columnWidth(table->columnCount() - 1), label + 8) << "no room for bars";
}

TEST_F(TheReportView, DrawsCurvesOfReadsThatTookSomeTime)
{
  this->Show(ReadOf(0.4));
  EXPECT_GT(this->Pixels(FlightColor), 50);
  this->Show(ReadOf(0.05));
  EXPECT_EQ(this->Pixels(FlightColor), 0) << "curves or dots of a short read";
}

TEST_F(TheReportView, SaysWhatCameFromMemory)
{
  QJsonObject report = ReadOf(0);
  report["bytes"] = 0;
  report["cached_bytes"] = 5e6;
  this->Show(report);
  EXPECT_THAT(this->Summary(), ::testing::HasSubstr("No reads: all 5.00 MB were in memory"));
}

TEST_F(TheReportView, SaysOfACancelledReadHowFarItCame)
{
  QJsonObject report = ReadOf(0.4);
  report["cancelled"] = true;
  report["wanted_bytes"] = 264e6;
  this->Show(report);
  EXPECT_THAT(
      this->Summary(), ::testing::HasSubstr("<b>Cancelled</b> after 132 MB of 264 MB; nothing is shown"));
  // The total number is unknown while the bytes are located.
  report["bytes"] = 0;
  report["wanted_bytes"] = 0;
  this->Show(report);
  EXPECT_THAT(this->Summary(), ::testing::HasSubstr("<b>Cancelled</b> after 0 bytes; nothing is shown"));
}

int main(int argc, char** argv)
{
  qputenv("QT_QPA_PLATFORM", "offscreen");
  ::testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
