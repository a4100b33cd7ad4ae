/**
 * @class ReportView
 * @brief the I/O report of a read as a small table and plots
 *
 * The view shows the content of the property IOReportData (JSON, see the user guide) of any reader.
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

  /// Shows a report. renderSeconds: from the end of the read to the rendered image; less than 0 if not known.
  void Show(const QJsonObject& report, double renderSeconds);
  /// Shows this text instead of a report.
  void ShowNothing(const QString& why);

protected:
  void resizeEvent(QResizeEvent* event) override;

private:
  void Arrange();
  void ShowSummary(const QJsonObject& report);
  void ShowTable(const QJsonObject& report, double renderSeconds);
  void ShowRate(const QJsonObject& report);
  void ShowInFlight(const QJsonObject& report);
  void ShowStorage(const QJsonObject& report);
  void ShowLastReads(const QJsonObject& report);

  QLabel* const Summary;
  QTableWidget* const Table;
  QGridLayout* const Plots;
  ReportPlot *const Rate, *const InFlight, *const Storage, *const Past;
  QJsonObject Shown;  ///< the report; empty: none is shown
  int Columns = 0;
};

#endif
