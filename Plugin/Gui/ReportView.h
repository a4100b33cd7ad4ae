/**
 * @class ReportView
 * @brief The I/O report of a read as a small table and plots
 *
 * The report is the value of a reader's property IOReportData (JSON, see the user guide).
 */
#ifndef ReportView_h
#define ReportView_h

#include <QJsonObject>
#include <QVector>
#include <QWidget>

class QGridLayout;
class QLabel;
class QTableWidget;
class ReportPlot;

class ReportView : public QWidget
{
public:
  explicit ReportView(QWidget* parent);

  /// Shows `report`. `renderSeconds`: time from the end of the read to the rendered image; less than 0:
  /// unknown.
  void SetReport(const QJsonObject& report, double renderSeconds);
  /// Shows `text` instead of a report.
  void SetMessage(const QString& text);

protected:
  void resizeEvent(QResizeEvent* event) override;

private:
  void ArrangePlots();
  void UpdateSummary(const QJsonObject& report);
  void UpdateTable(const QJsonObject& report, double renderSeconds);
  void UpdateRatePlot(const QJsonObject& report);
  void UpdateInFlightPlot(const QJsonObject& report);
  void UpdateStoragePlot(const QJsonObject& report);
  void UpdateLastReadsPlot(const QJsonObject& report);

  QLabel* const Summary;
  QTableWidget* const Table;
  QGridLayout* const Plots;
  ReportPlot *const RatePlot, *const InFlightPlot, *const StoragePlot, *const LastReadsPlot;
  QJsonObject Report;  ///< the displayed report; empty: no report
  int Columns = 0;     ///< number of plots side by side
};

#endif
