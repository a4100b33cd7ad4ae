#include "ReportView.h"

#include "Base/Text.h"
#include "ReportPlot.h"

#include <QDir>
#include <QFileInfo>
#include <QFontMetrics>
#include <QGridLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonObject>
#include <QLabel>
#include <QPainter>
#include <QString>
#include <QStyledItemDelegate>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace {

/// Returns `value` with at least three significant digits, such as "5.82" or "1234", but at most two
/// decimals.
QString ThreeDigits(double value)
{
  return QString::number(value, 'f', value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

QString ByteText(double bytes)
{
  return QString::fromStdString(patchio::ByteText(bytes));
}

/// Returns a text such as "5.82 ms".
QString SecondsText(double seconds)
{
  return seconds >= 1 ? ThreeDigits(seconds) + " s" : ThreeDigits(seconds * 1e3) + " ms";
}

QString RateText(double bytesPerSecond)
{
  return ByteText(bytesPerSecond) + "/s";
}

/// Returns the seconds of waiting for the storage plus the seconds of decoding. A rate is the number of bytes
/// divided by this sum. `seconds`: the object "seconds" of the report.
double ReadingSeconds(const QJsonObject& seconds)
{
  return seconds["read"].toDouble() + seconds["decode"].toDouble();
}

QString CountText(double count, const char* singular, const char* plural = "")
{
  return QString::fromStdString(patchio::CountText(static_cast<std::uint64_t>(count), singular, plural));
}

/// Returns the names of the step's folder and file. Returns only the name of the folder for dumps and
/// plotfiles, because their files all have the same name.
QString NameOfStep(const QString& path)
{
  const QFileInfo file(path);
  const bool isDump = file.fileName() == "summary.samrai" || file.fileName() == "Header";
  return isDump ? file.dir().dirName() : file.dir().dirName() + "/" + file.fileName();
}

/// Returns the bytes, the time and the rate of a read as rich text; for a cancelled read or without bytes, a
/// text that says so. The time is ReadingSeconds(), and the rate is the bytes divided by this time.
QString ReadText(const QJsonObject& report)
{
  const double bytes = report["bytes"].toDouble(), cached = report["cached_bytes"].toDouble();
  const double reading = ReadingSeconds(report["seconds"].toObject());
  if (report["cancelled"].toBool()) {
    const double total = report["wanted_bytes"].toDouble();
    const QString ofTotal = total > 0 ? QObject::tr(" of %1").arg(ByteText(total)) : QString();
    return QObject::tr(
        "<b>Cancelled</b> after %1%2; nothing is shown. Click Apply or change the time step to read again.")
        .arg(ByteText(bytes), ofTotal);
  }
  if (bytes <= 0) {
    return cached > 0 ? QObject::tr("No reads: all %1 were in memory").arg(ByteText(cached))
                      : QObject::tr("No data were read");
  }
  const QString text = QObject::tr("%1 read and decoded in %2").arg(ByteText(bytes), SecondsText(reading));
  return reading > 0 ? text + QString(", <b>%1</b>").arg(RateText(bytes / reading)) : text;
}

/// Returns three lines of rich text: the file and the date or time of the step; ReadText(); ranks, threads
/// and, unless the read was cancelled, patches and blocks. Qt does not wrap a name without blanks, so the
/// file's name is shortened to `width` pixels in the font `bold`.
QString SummaryText(const QJsonObject& report, const QFontMetrics& bold, int width)
{
  const QString path = report["file"].toString();
  const QJsonArray threads = report["threads_of_rank"].toArray();
  const int least = threads[0].toInt(), most = threads[1].toInt(), ranks = report["ranks"].toInt();
  const QString perRank =
      least == most ? CountText(most, "thread") : QObject::tr("%1 to %2 threads").arg(least).arg(most);
  const QString name = bold.elidedText(NameOfStep(path), Qt::ElideMiddle, width);
  const QString date = report["date"].toString();
  const QString when = date.isEmpty() ? QObject::tr("time %1").arg(report["time"].toDouble()) : date;
  QString text = QString("<b>%1</b>, %2<br>%3<br>%4 \u00d7 %5")
                     .arg(name.toHtmlEscaped(), when, ReadText(report), CountText(ranks, "rank"), perRank);
  if (!report["cancelled"].toBool()) {
    text += QObject::tr(", %1 in %2")
                .arg(CountText(report["patches"].toDouble(), "patch", "patches"),
                    CountText(report["blocks"].toDouble(), "block"));
  }
  return text;
}

/// A row of the table: its key in the object "seconds", and its name, colour and tooltip. Colour-blind people
/// can tell the colours apart: Okabe and Ito, "Color Universal Design (CUD)", 2008.
struct Stage
{
  const char* Key;
  const char* Name;
  const char* Color;
  const char* Tip;
};
constexpr Stage Stages[] = {
    {"open", "Open", "#CC79A7", "Opening the series and the time step, and listing the patches"},
    {"locate", "Locate", "#E69F00", "Locating the bytes of each array in the files"},
    {"read", "Read", "#0072B2", "Waiting for the storage"},
    {"decode", "Decode", "#56B4E9",
        "Decompressing values and copying them into the arrays. Some threads decode while others read; the "
        "row shows the share of decoding in the time of all threads"},
    {"assemble", "Assemble", "#009E73", "Building blocks and grids, and hiding refined cells"},
    {"render", "Filters, render", "#999999", "From the end of the read to the rendered image"}};
constexpr const char* RateColor = "#0072B2";
constexpr const char* InFlightColor = "#D55E00";
constexpr int ShareColumn = 2;
constexpr int Margin = 6;  // pixels

/// Seconds of a read below which there are too few samples for a curve.
constexpr double ShortestCurve = 0.1;
/// Average number of requests in flight below which a read did not wait for the storage.
constexpr double LeastInFlight = 0.5;

double TotalSeconds(const QJsonObject& seconds)
{
  double sum = 0;
  for (const QJsonValue& value : seconds) {
    sum += value.toDouble();
  }
  return sum;
}

/// Draws the share in Qt::UserRole, from 0 to 1, as a bar (colour in Qt::UserRole + 1) and a percentage.
class ShareDelegate : public QStyledItemDelegate
{
public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
  {
    const double share = index.data(Qt::UserRole).toDouble();
    const QColor color = index.data(Qt::UserRole + 1).value<QColor>();
    const QString widest = "100 %";
    const double label = option.fontMetrics.horizontalAdvance(widest) + 6;
    const QRectF room = QRectF(option.rect).adjusted(4, 4, -label - 4, -4);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(color);
    painter->drawRoundedRect(
        QRectF(room.left(), room.top(), std::max(room.width() * share, 1.5), room.height()), 2, 2);
    painter->setPen(option.palette.color(QPalette::Text));
    const QString text =
        share > 0 && share < 0.005 ? QString("<1 %") : QString("%1 %").arg(share * 100, 0, 'f', 0);
    painter->drawText(option.rect.adjusted(0, 0, -4, 0), Qt::AlignRight | Qt::AlignVCenter, text);
    painter->restore();
  }
};

QPixmap ColorSwatch(const QColor& color, int size)
{
  QPixmap pixmap(size, size);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRoundedRect(1, 1, size - 2, size - 2, 2, 2);
  return pixmap;
}

QTableWidget* NewTable(QWidget* parent)
{
  auto* table = new QTableWidget(0, ShareColumn + 1, parent);
  table->setHorizontalHeaderLabels({"", "Time", "Share"});
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
  table->verticalHeader()->setMinimumSectionSize(0);
  for (int column = 0; column < ShareColumn; ++column) {
    table->horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  }
  table->horizontalHeader()->setSectionResizeMode(ShareColumn, QHeaderView::Stretch);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeaderItem(ShareColumn)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table->setShowGrid(false);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setSelectionMode(QAbstractItemView::NoSelection);
  table->setFocusPolicy(Qt::NoFocus);
  table->setFrameShape(QFrame::NoFrame);
  table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table->setItemDelegateForColumn(ShareColumn, new ShareDelegate(table));
  return table;
}

QTableWidgetItem* NewCell(const QString& text)
{
  auto* item = new QTableWidgetItem(text);
  item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  return item;
}

/// Returns the points [x, y] of `pairs`, with y multiplied by `yScale`.
QVector<QPointF> PointsFromPairs(const QJsonArray& pairs, double yScale)
{
  QVector<QPointF> points;
  for (const QJsonValue& value : pairs) {
    points.append({value[0].toDouble(), value[1].toDouble() * yScale});
  }
  return points;
}

/// Returns the list `key` of the report's "moments" as points over seconds.
QVector<QPointF> PointsOverTime(const QJsonObject& report, const char* key)
{
  const QJsonObject moments = report["moments"].toObject();
  const QJsonArray seconds = moments["seconds"].toArray(), values = moments[key].toArray();
  QVector<QPointF> points;
  for (int i = 0; i < std::min(seconds.size(), values.size()); ++i) {
    points.append({seconds[i].toDouble(), values[i].toDouble()});
  }
  return points;
}

/// Returns y at `x` by linear interpolation between `points`, which ascend in x; beyond the first and the
/// last point, y of this point. Returns 0 if there are no points.
double Interpolate(const QVector<QPointF>& points, double x)
{
  const auto next = std::find_if(points.begin(), points.end(), [x](const QPointF& p) { return p.x() >= x; });
  if (next == points.begin() || next == points.end()) {
    return points.empty() ? 0 : next == points.end() ? points.back().y() : next->y();
  }
  const QPointF& before = *(next - 1);
  return before.y() + (x - before.x()) / (next->x() - before.x()) * (next->y() - before.y());
}

/// Returns the rate in MB/s over the seconds of the read; no points if `bytes` is empty. `bytes`: number of
/// bytes read until each time. `requestSeconds`: mean time of a request. Each rate, except near the ends, is
/// the mean over at least 1.5 times this time, because requests that begin together end together.
QVector<QPointF> RateCurve(const QVector<QPointF>& bytes, double requestSeconds)
{
  constexpr int intervals = 80;
  QVector<QPointF> rate;
  const double end = bytes.empty() ? 0 : bytes.back().x();
  const double half = std::max(end / 40, 1.5 * requestSeconds) / 2;
  for (int i = 0; i <= intervals && end > 0; ++i) {
    const double middle = end * i / intervals;
    const double from = std::max(middle - half, 0.0), to = std::min(middle + half, end);
    rate.append({middle, (Interpolate(bytes, to) - Interpolate(bytes, from)) / (to - from) * 1e-6});
  }
  return rate;
}

/// Returns the reason why the report has no curves over the time of the read; empty if the report has curves.
QString MissingCurvesReason(const QJsonObject& report)
{
  const QVector<QPointF> bytes = PointsOverTime(report, "bytes");
  if (report["bytes"].toDouble() <= 0) {
    return ReportView::tr("No data were read from the storage.");
  }
  if (bytes.size() < 2) {
    return ReportView::tr("The curve was not recorded, because the step was read ahead.");
  }
  return bytes.back().x() < ShortestCurve ? ReportView::tr("The read was too short for a curve.") : QString();
}

}  // namespace

ReportView::ReportView(QWidget* parent)
    : QWidget(parent),
      Summary(new QLabel(this)),
      Table(NewTable(this)),
      Plots(new QGridLayout),
      RatePlot(new ReportPlot(tr("Rate"), "s", "MB/s", this)),
      InFlightPlot(new ReportPlot(tr("Reads in flight"), "s", "", this)),
      StoragePlot(new ReportPlot(tr("Storage F(N)"), "N", "MB/s", this)),
      LastReadsPlot(new ReportPlot(tr("Last reads"), "", "s", this))
{
  this->Summary->setWordWrap(true);
  this->Summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
  this->StoragePlot->SetLogarithmic();
  this->LastReadsPlot->SetWholeNumbers();
  this->StoragePlot->setToolTip(
      tr("Rate as a function of the number of concurrent reads on the whole storage: the curve that "
         "\"patchio probe\" measured, and this and earlier reads"));
  this->LastReadsPlot->setToolTip(
      tr("One bar per read, in the colours of the table; the latest on the right"));
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(Margin, Margin, Margin, Margin);
  rows->setSpacing(6);
  rows->addWidget(this->Summary);
  rows->addWidget(this->Table);
  rows->addLayout(this->Plots, 1);
  this->Plots->setSpacing(6);
  this->SetMessage(tr("No data have been read yet."));
}

void ReportView::SetMessage(const QString& text)
{
  this->Report = QJsonObject();
  this->Summary->setToolTip({});
  this->Summary->setText(text);
  this->Table->hide();
  for (ReportPlot* plot : {this->RatePlot, this->InFlightPlot, this->StoragePlot, this->LastReadsPlot}) {
    plot->hide();
  }
}

void ReportView::SetReport(const QJsonObject& report, double renderSeconds)
{
  this->Report = report;
  this->UpdateSummary(report);
  this->UpdateTable(report, renderSeconds);
  this->UpdateRatePlot(report);
  this->UpdateInFlightPlot(report);
  this->UpdateStoragePlot(report);
  this->UpdateLastReadsPlot(report);
  this->Table->show();
  for (ReportPlot* plot : {this->RatePlot, this->InFlightPlot, this->StoragePlot, this->LastReadsPlot}) {
    plot->show();
  }
  this->ArrangePlots();
}

void ReportView::resizeEvent(QResizeEvent* event)
{
  QWidget::resizeEvent(event);
  this->ArrangePlots();
  if (!this->Report.isEmpty()) {
    this->UpdateSummary(this->Report);
  }
}

/// Arranges the plots in 4, 2 or 1 columns, depending on the width of the view.
void ReportView::ArrangePlots()
{
  const int columns = this->width() >= 1000 ? 4 : this->width() >= 420 ? 2 : 1;
  if (columns == this->Columns) {
    return;
  }
  this->Columns = columns;
  int number = 0;
  for (ReportPlot* plot : {this->RatePlot, this->InFlightPlot, this->StoragePlot, this->LastReadsPlot}) {
    this->Plots->addWidget(plot, number / columns, number % columns);
    ++number;
  }
}

void ReportView::UpdateSummary(const QJsonObject& report)
{
  QFont bold = this->Summary->font();
  bold.setBold(true);
  this->Summary->setText(SummaryText(report, QFontMetrics(bold), this->width() - 4 * Margin));
  this->Summary->setToolTip(report["file"].toString());
}

void ReportView::UpdateTable(const QJsonObject& report, double renderSeconds)
{
  QJsonObject seconds = report["seconds"].toObject();
  if (renderSeconds >= 0) {
    seconds["render"] = renderSeconds;
  }
  const double all = TotalSeconds(seconds);
  this->Table->setRowCount(0);
  for (const Stage& stage : Stages) {
    if (!seconds.contains(stage.Key)) {
      continue;
    }
    const int row = this->Table->rowCount();
    this->Table->insertRow(row);
    const double value = seconds[stage.Key].toDouble();
    auto* name = new QTableWidgetItem(
        ColorSwatch(QColor(stage.Color), this->Table->fontMetrics().ascent()), tr(stage.Name));
    name->setToolTip(tr(stage.Tip));
    auto* share = new QTableWidgetItem;
    share->setData(Qt::UserRole, all > 0 ? value / all : 0);
    share->setData(Qt::UserRole + 1, QColor(stage.Color));
    this->Table->setItem(row, 0, name);
    this->Table->setItem(row, 1, NewCell(SecondsText(value)));
    this->Table->setItem(row, ShareColumn, share);
  }
  const int rows = this->Table->rowCount() * this->Table->verticalHeader()->defaultSectionSize();
  this->Table->setFixedHeight(this->Table->horizontalHeader()->sizeHint().height() + rows + 2);
}

void ReportView::UpdateRatePlot(const QJsonObject& report)
{
  PlotSeries rate;
  rate.DrawStyle = PlotSeries::Area;
  rate.Color = RateColor;
  const QString remark = MissingCurvesReason(report);
  if (remark.isEmpty()) {
    rate.Points = RateCurve(PointsOverTime(report, "bytes"), report["request_seconds"].toDouble());
  }
  this->RatePlot->SetRemark(remark);
  this->RatePlot->SetSeries({rate}, {});
}

void ReportView::UpdateInFlightPlot(const QJsonObject& report)
{
  PlotSeries measured, threads;
  measured.DrawStyle = PlotSeries::Area;
  measured.Name = tr("measured");
  measured.Color = InFlightColor;
  threads.DrawStyle = PlotSeries::Steps;
  threads.Name = tr("threads");
  threads.Color = "#7A7A7A";
  QString remark = MissingCurvesReason(report);
  if (remark.isEmpty()) {
    measured.Points = PointsOverTime(report, "in_flight");
    threads.Points = PointsFromPairs(report["threads"].toArray(), 1);
  }
  const bool anyMeasured = std::any_of(
      measured.Points.begin(), measured.Points.end(), [](const QPointF& point) { return point.y() > 0; });
  if (remark.isEmpty() && !anyMeasured) {
    remark = tr("All reads were too short to be counted here.");
  }
  if (!threads.Points.isEmpty()) {
    threads.Points.append({measured.Points.back().x(), threads.Points.back().y()});
  }
  this->InFlightPlot->SetRemark(remark);
  this->InFlightPlot->SetSeries({measured, threads}, {});
}

void ReportView::UpdateStoragePlot(const QJsonObject& report)
{
  const QJsonObject storage = report["storage"].toObject();
  PlotSeries curve, samples, before, now;
  curve.Name = "F(N)";
  curve.Color = "#009E73";
  curve.Points = PointsFromPairs(storage["curve"].toArray(), 1e-6);
  samples.DrawStyle = before.DrawStyle = now.DrawStyle = PlotSeries::Dots;
  samples.Color = curve.Color;
  samples.Points = PointsFromPairs(storage["samples"].toArray(), 1e-6);
  before.Name = tr("before");
  before.Color = "#E0A080";
  now.Name = tr("this read");
  now.Color = InFlightColor;
  now.Radius = 5.5;
  for (const QJsonValue& past : report["past"].toArray()) {
    const double reading = ReadingSeconds(past["seconds"].toObject());
    if (reading > 0 && past["bytes"].toDouble() > 0 && past["in_flight"].toDouble() >= LeastInFlight) {
      before.Points.append({past["in_flight"].toDouble(), past["bytes"].toDouble() / reading * 1e-6});
    }
  }
  if (curve.Points.isEmpty() && before.Points.size() < 2) {
    before.Points.clear();  // a single dot does not show a trend
  }
  const bool isShown = report["bytes"].toDouble() > 0 && report["in_flight"].toDouble() >= LeastInFlight;
  if (!before.Points.isEmpty() && isShown) {
    now.Points.append(before.Points.takeLast());
  }
  QVector<PlotMark> marks;
  const int best = storage["best_concurrency"].toInt();
  if (best > 0) {
    marks.append({double(best), QString("N* = %1").arg(best)});
  }
  const bool isEmpty = curve.Points.isEmpty() && before.Points.isEmpty() && now.Points.isEmpty();
  this->StoragePlot->SetRemark(
      isEmpty ? tr("This read used no profile of the storage. \"patchio probe\" makes a profile.")
              : QString());
  curve.Name = curve.Points.isEmpty() ? QString() : curve.Name;
  before.Name = before.Points.isEmpty() ? QString() : before.Name;
  this->StoragePlot->SetSeries({curve, samples, before, now}, marks);
}

void ReportView::UpdateLastReadsPlot(const QJsonObject& report)
{
  const QJsonArray past = report["past"].toArray();
  QVector<PlotSeries> series;
  QStringList hints;
  for (const Stage& stage : Stages) {
    PlotSeries bars;
    bars.DrawStyle = PlotSeries::Bars;
    bars.Color = stage.Color;
    for (int i = 0; i < past.size() && QString(stage.Key) != "render"; ++i) {
      bars.Points.append({double(i + 1), past[i]["seconds"][QString(stage.Key)].toDouble()});
    }
    series.append(bars);
  }
  for (const QJsonValue& read : past) {
    const QJsonObject seconds = read["seconds"].toObject();
    const double reading = ReadingSeconds(seconds), bytes = read["bytes"].toDouble();
    hints.append(QString("t = %1: %2 in %3%4")
                     .arg(read["time"].toDouble())
                     .arg(ByteText(bytes), SecondsText(TotalSeconds(seconds)),
                         read["cancelled"].toBool() ? tr(", cancelled")
                         : reading > 0              ? ", " + RateText(bytes / reading)
                                                    : QString()));
  }
  this->LastReadsPlot->SetSeries(series, {}, hints);
}
