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

QString Digits(double value)
{
  return QString::number(value, 'f', value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

QString BytesText(double bytes)
{
  return QString::fromStdString(patchio::ByteText(bytes));
}

/// Returns a text such as "5.82 ms".
QString SecondsText(double seconds)
{
  return seconds >= 1 ? Digits(seconds) + " s" : Digits(seconds * 1e3) + " ms";
}

/// rate: bytes per second.
QString RateText(double rate)
{
  return BytesText(rate) + "/s";
}

/// Returns the sum of the seconds of waiting for the storage and of decoding. Rates are bytes over this time.
/// seconds: the object "seconds" of the report.
double ReadingSeconds(const QJsonObject& seconds)
{
  return seconds["read"].toDouble() + seconds["decode"].toDouble();
}

QString Count(double count, const char* one, const char* several = "")
{
  return QString::fromStdString(patchio::CountText(static_cast<std::uint64_t>(count), one, several));
}

/// Returns the file of the step with its folder; only the folder for dumps and plotfiles, whose files all
/// have the same name.
QString NameOfStep(const QString& path)
{
  const QFileInfo file(path);
  const bool isDump = file.fileName() == "summary.samrai" || file.fileName() == "Header";
  return isDump ? file.dir().dirName() : file.dir().dirName() + "/" + file.fileName();
}

/// Returns the bytes, time and rate of the read as text. The numbers agree with each other, and with the sum
/// of the rows "Read" and "Decode" of the table.
QString ReadText(const QJsonObject& report)
{
  const double bytes = report["bytes"].toDouble(), cached = report["cached_bytes"].toDouble();
  const double reading = ReadingSeconds(report["seconds"].toObject());
  if (report["cancelled"].toBool()) {
    return QObject::tr(
        "<b>Cancelled</b> after %1 of %2; nothing is shown. Click Apply or change the time step to read "
        "again.")
        .arg(BytesText(bytes), BytesText(report["wanted_bytes"].toDouble()));
  }
  if (bytes <= 0) {
    return cached > 0 ? QObject::tr("No reads: all %1 were in memory").arg(BytesText(cached))
                      : QObject::tr("No data were read");
  }
  const QString text = QObject::tr("%1 read and decoded in %2").arg(BytesText(bytes), SecondsText(reading));
  return reading > 0 ? text + QString(", <b>%1</b>").arg(RateText(bytes / reading)) : text;
}

/// Returns lines of rich text: the file and the time; bytes, seconds and rate; ranks, threads, patches and
/// blocks. A name without blanks cannot be wrapped, so the file's name is shortened to `width` pixels in the
/// font `bold`.
QString SummaryOf(const QJsonObject& report, const QFontMetrics& bold, int width)
{
  const QString path = report["file"].toString();
  const QJsonArray threads = report["threads_of_rank"].toArray();
  const int least = threads[0].toInt(), most = threads[1].toInt(), ranks = report["ranks"].toInt();
  const QString perRank =
      least == most ? Count(most, "thread") : QObject::tr("%1 to %2 threads").arg(least).arg(most);
  const QString name = bold.elidedText(NameOfStep(path), Qt::ElideMiddle, width);
  const QString date = report["date"].toString();
  const QString when = date.isEmpty() ? QObject::tr("time %1").arg(report["time"].toDouble()) : date;
  QString text = QString("<b>%1</b>, %2<br>%3<br>%4 \u00d7 %5")
                     .arg(name.toHtmlEscaped(), when, ReadText(report), Count(ranks, "rank"), perRank);
  if (!report["cancelled"].toBool()) {
    text += QObject::tr(", %1 in %2")
                .arg(Count(report["patches"].toDouble(), "patch", "patches"),
                    Count(report["blocks"].toDouble(), "block"));
  }
  return text;
}

/// A stage of a read. The colours are by Okabe and Ito: colour-blind people can tell them apart.
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
        "Decompressing values and copying them into the arrays. Some threads decode while others read; this "
        "is the share of decoding in their time"},
    {"assemble", "Assemble", "#009E73", "Building blocks and grids, and hiding refined cells"},
    {"render", "Filters, render", "#999999", "From the end of the read to the rendered image"}};
constexpr const char* RateColor = "#0072B2";
constexpr const char* FlightColor = "#D55E00";
constexpr int ShareColumn = 2;
constexpr int Margin = 6;  // pixels

/// Seconds of a read below which there are too few samples for a curve.
constexpr double ShortestCurve = 0.1;
/// Average number of requests in flight below which a read did not wait for the storage.
constexpr double LeastInFlight = 0.5;

double SumOf(const QJsonObject& seconds)
{
  double sum = 0;
  for (const QJsonValue& value : seconds) {
    sum += value.toDouble();
  }
  return sum;
}

/// Draws a share from 0 to 1 as a bar, followed by the percentage.
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

QPixmap Swatch(const QColor& color, int size)
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

QTableWidgetItem* Cell(const QString& text)
{
  auto* item = new QTableWidgetItem(text);
  item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  return item;
}

QVector<QPointF> Pairs(const QJsonArray& list, double unit)
{
  QVector<QPointF> points;
  for (const QJsonValue& value : list) {
    points.append({value[0].toDouble(), value[1].toDouble() * unit});
  }
  return points;
}

/// Returns the list `key` of the report's "moments" as points over time.
QVector<QPointF> Moments(const QJsonObject& report, const char* key)
{
  const QJsonObject moments = report["moments"].toObject();
  const QJsonArray seconds = moments["seconds"].toArray(), values = moments[key].toArray();
  QVector<QPointF> points;
  for (int i = 0; i < std::min(seconds.size(), values.size()); ++i) {
    points.append({seconds[i].toDouble(), values[i].toDouble()});
  }
  return points;
}

/// Interpolates between points that ascend in x.
double Between(const QVector<QPointF>& points, double x)
{
  const auto next = std::find_if(points.begin(), points.end(), [x](const QPointF& p) { return p.x() >= x; });
  if (next == points.begin() || next == points.end()) {
    return points.empty() ? 0 : next == points.end() ? points.back().y() : next->y();
  }
  const QPointF& before = *(next - 1);
  return before.y() + (x - before.x()) / (next->x() - before.x()) * (next->y() - before.y());
}

/// Returns the rate in MB/s, averaged over the time of a request, because requests that begin together end
/// together.
QVector<QPointF> RateOf(const QVector<QPointF>& bytes, double requestSeconds)
{
  constexpr int moments = 80;
  QVector<QPointF> rate;
  const double end = bytes.empty() ? 0 : bytes.back().x();
  const double half = std::max(end / 40, 1.5 * requestSeconds) / 2;
  for (int i = 0; i <= moments && end > 0; ++i) {
    const double middle = end * i / moments;
    const double from = std::max(middle - half, 0.0), to = std::min(middle + half, end);
    rate.append({middle, (Between(bytes, to) - Between(bytes, from)) / (to - from) * 1e-6});
  }
  return rate;
}

/// Returns why there are no curves over the time of a read; empty if there are curves.
QString WhyNoCurves(const QJsonObject& report)
{
  const QVector<QPointF> bytes = Moments(report, "bytes");
  if (report["bytes"].toDouble() <= 0) {
    return ReportView::tr("No data were read from the storage.");
  }
  if (bytes.size() < 2) {
    return ReportView::tr("Not recorded, because the step was read ahead.");
  }
  return bytes.back().x() < ShortestCurve ? ReportView::tr("The read was too short for a curve.") : QString();
}

}  // namespace

ReportView::ReportView(QWidget* parent)
    : QWidget(parent),
      Summary(new QLabel(this)),
      Table(NewTable(this)),
      Plots(new QGridLayout),
      Rate(new ReportPlot(tr("Rate"), "s", "MB/s", this)),
      InFlight(new ReportPlot(tr("Reads in flight"), "s", "", this)),
      Storage(new ReportPlot(tr("Storage F(N)"), "N", "MB/s", this)),
      Past(new ReportPlot(tr("Last reads"), "", "s", this))
{
  this->Summary->setWordWrap(true);
  this->Summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
  this->Storage->SetLogarithmic();
  this->Past->SetWholeNumbers();
  this->Storage->setToolTip(
      tr("Rate as a function of the number of concurrent reads on the whole storage: the curve that "
         "\"patchio probe\" measured, and this read"));
  this->Past->setToolTip(tr("One bar per read, in the colours of the table; the latest on the right"));
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(Margin, Margin, Margin, Margin);
  rows->setSpacing(6);
  rows->addWidget(this->Summary);
  rows->addWidget(this->Table);
  rows->addLayout(this->Plots, 1);
  this->Plots->setSpacing(6);
  this->ShowNothing(tr("No data have been read yet."));
}

void ReportView::ShowNothing(const QString& why)
{
  this->Shown = QJsonObject();
  this->Summary->setToolTip({});
  this->Summary->setText(why);
  this->Table->hide();
  for (ReportPlot* plot : {this->Rate, this->InFlight, this->Storage, this->Past}) {
    plot->hide();
  }
}

void ReportView::Show(const QJsonObject& report, double renderSeconds)
{
  this->Shown = report;
  this->ShowSummary(report);
  this->ShowTable(report, renderSeconds);
  this->ShowRate(report);
  this->ShowInFlight(report);
  this->ShowStorage(report);
  this->ShowLastReads(report);
  this->Table->show();
  for (ReportPlot* plot : {this->Rate, this->InFlight, this->Storage, this->Past}) {
    plot->show();
  }
  this->Arrange();
}

void ReportView::resizeEvent(QResizeEvent* event)
{
  QWidget::resizeEvent(event);
  this->Arrange();
  if (!this->Shown.isEmpty()) {
    this->ShowSummary(this->Shown);
  }
}

/// Puts plots side by side if the view is wide enough.
void ReportView::Arrange()
{
  const int columns = this->width() >= 1000 ? 4 : this->width() >= 420 ? 2 : 1;
  if (columns == this->Columns) {
    return;
  }
  this->Columns = columns;
  int place = 0;
  for (ReportPlot* plot : {this->Rate, this->InFlight, this->Storage, this->Past}) {
    this->Plots->addWidget(plot, place / columns, place % columns);
    ++place;
  }
}

void ReportView::ShowSummary(const QJsonObject& report)
{
  QFont bold = this->Summary->font();
  bold.setBold(true);
  this->Summary->setText(SummaryOf(report, QFontMetrics(bold), this->width() - 4 * Margin));
  this->Summary->setToolTip(report["file"].toString());
}

void ReportView::ShowTable(const QJsonObject& report, double renderSeconds)
{
  QJsonObject seconds = report["seconds"].toObject();
  if (renderSeconds >= 0) {
    seconds["render"] = renderSeconds;
  }
  const double all = SumOf(seconds);
  this->Table->setRowCount(0);
  for (const Stage& stage : Stages) {
    if (!seconds.contains(stage.Key)) {
      continue;
    }
    const int row = this->Table->rowCount();
    this->Table->insertRow(row);
    const double value = seconds[stage.Key].toDouble();
    auto* name = new QTableWidgetItem(
        Swatch(QColor(stage.Color), this->Table->fontMetrics().ascent()), tr(stage.Name));
    name->setToolTip(tr(stage.Tip));
    auto* share = new QTableWidgetItem;
    share->setData(Qt::UserRole, all > 0 ? value / all : 0);
    share->setData(Qt::UserRole + 1, QColor(stage.Color));
    this->Table->setItem(row, 0, name);
    this->Table->setItem(row, 1, Cell(SecondsText(value)));
    this->Table->setItem(row, ShareColumn, share);
  }
  const int rows = this->Table->rowCount() * this->Table->verticalHeader()->defaultSectionSize();
  this->Table->setFixedHeight(this->Table->horizontalHeader()->sizeHint().height() + rows + 2);
}

void ReportView::ShowRate(const QJsonObject& report)
{
  PlotSeries rate;
  rate.As = PlotSeries::Area;
  rate.Color = RateColor;
  const QString why = WhyNoCurves(report);
  if (why.isEmpty()) {
    rate.Points = RateOf(Moments(report, "bytes"), report["request_seconds"].toDouble());
  }
  this->Rate->SetRemark(why);
  this->Rate->Show({rate}, {});
}

void ReportView::ShowInFlight(const QJsonObject& report)
{
  PlotSeries seen, wanted;
  seen.As = PlotSeries::Area;
  seen.Name = tr("measured");
  seen.Color = FlightColor;
  wanted.As = PlotSeries::Steps;
  wanted.Name = tr("threads");
  wanted.Color = "#7A7A7A";
  QString why = WhyNoCurves(report);
  if (why.isEmpty()) {
    seen.Points = Moments(report, "in_flight");
    wanted.Points = Pairs(report["threads"].toArray(), 1);
  }
  const bool anySeen =
      std::any_of(seen.Points.begin(), seen.Points.end(), [](const QPointF& point) { return point.y() > 0; });
  if (why.isEmpty() && !anySeen) {
    why = tr("All reads were too short to be counted here.");
  }
  if (!wanted.Points.isEmpty()) {
    wanted.Points.append({seen.Points.back().x(), wanted.Points.back().y()});
  }
  this->InFlight->SetRemark(why);
  this->InFlight->Show({seen, wanted}, {});
}

void ReportView::ShowStorage(const QJsonObject& report)
{
  const QJsonObject storage = report["storage"].toObject();
  PlotSeries curve, samples, before, now;
  curve.Name = "F(N)";
  curve.Color = "#009E73";
  curve.Points = Pairs(storage["curve"].toArray(), 1e-6);
  samples.As = before.As = now.As = PlotSeries::Dots;
  samples.Color = curve.Color;
  samples.Points = Pairs(storage["samples"].toArray(), 1e-6);
  before.Name = tr("before");
  before.Color = "#E0A080";
  now.Name = tr("this read");
  now.Color = FlightColor;
  now.Size = 5.5;
  for (const QJsonValue& past : report["past"].toArray()) {
    const double reading = ReadingSeconds(past["seconds"].toObject());
    if (reading > 0 && past["bytes"].toDouble() > 0 && past["in_flight"].toDouble() >= LeastInFlight) {
      before.Points.append({past["in_flight"].toDouble(), past["bytes"].toDouble() / reading * 1e-6});
    }
  }
  if (curve.Points.isEmpty() && before.Points.size() < 2) {
    before.Points.clear();  // a single dot says nothing
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
  this->Storage->SetRemark(
      isEmpty ? tr("This storage has no profile. Measure it with \"patchio probe\".") : QString());
  curve.Name = curve.Points.isEmpty() ? QString() : curve.Name;
  before.Name = before.Points.isEmpty() ? QString() : before.Name;
  this->Storage->Show({curve, samples, before, now}, marks);
}

void ReportView::ShowLastReads(const QJsonObject& report)
{
  const QJsonArray past = report["past"].toArray();
  QVector<PlotSeries> series;
  QStringList hints;
  for (const Stage& stage : Stages) {
    PlotSeries bars;
    bars.As = PlotSeries::Bars;
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
                     .arg(BytesText(bytes), SecondsText(SumOf(seconds)),
                         read["cancelled"].toBool() ? tr(", cancelled")
                         : reading > 0              ? ", " + RateText(bytes / reading)
                                                    : QString()));
  }
  this->Past->Show(series, {}, hints);
}
