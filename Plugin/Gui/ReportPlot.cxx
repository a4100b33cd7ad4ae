#include "ReportPlot.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace {

constexpr int Gap = 6;            // pixels between the elements of a plot
constexpr int RemarkHeight = 72;  // pixels

/// Returns the distance between the ticks of an axis of length `range` with about `ticks` ticks: 1, 2 or 5
/// times a power of ten.
double NiceTickStep(double range, int ticks)
{
  const double rough = range / std::max(ticks, 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) {
      return factor * power;
    }
  }
  return 10 * power;
}

QString NumberText(double value)
{
  return QString::number(value, 'g', 4);
}

}  // namespace

ReportPlot::ReportPlot(const QString& title, const QString& xUnit, const QString& yUnit, QWidget* parent)
    : QWidget(parent), Title(title), XUnit(xUnit), YUnit(yUnit)
{
  this->setMouseTracking(true);
  this->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  QFont small = this->font();
  small.setPointSizeF(small.pointSizeF() * 0.9);
  this->setFont(small);
}

void ReportPlot::SetSeries(
    const QVector<PlotSeries>& series, const QVector<PlotMark>& marks, const QStringList& hints)
{
  this->Series = series;
  this->Marks = marks;
  this->Hints = hints;
  this->UpdateRange();
  this->update();
}

void ReportPlot::SetRemark(const QString& remark)
{
  this->Remark = remark;
  // Plots take the free space before remarks do.
  this->setSizePolicy(
      QSizePolicy::Expanding, remark.isEmpty() ? QSizePolicy::Expanding : QSizePolicy::Preferred);
  this->updateGeometry();
}

QSize ReportPlot::sizeHint() const
{
  return {300, this->Remark.isEmpty() ? 160 : RemarkHeight};
}

QSize ReportPlot::minimumSizeHint() const
{
  return {180, this->Remark.isEmpty() ? 120 : RemarkHeight};
}

double ReportPlot::AxisPosition(double x) const
{
  return this->Logarithmic ? std::log2(std::max(x, 0.5)) : x;
}

void ReportPlot::UpdateRange()
{
  double least = 1e300, most = -1e300, top = 0;
  QVector<double> stack;
  for (const PlotSeries& series : this->Series) {
    const bool bars = series.DrawStyle == PlotSeries::Bars;
    for (int i = 0; i < series.Points.size(); ++i) {
      const QPointF& point = series.Points[i];
      const double half = bars ? 0.5 : 0;
      least = std::min(least, this->AxisPosition(point.x()) - half);
      most = std::max(most, this->AxisPosition(point.x()) + half);
      double height = point.y();
      if (bars) {
        stack.resize(std::max(static_cast<int>(stack.size()), i + 1));
        stack[i] += height;
        height = stack[i];
      }
      top = std::max(top, height);
    }
  }
  for (const PlotMark& mark : this->Marks) {
    least = std::min(least, this->AxisPosition(mark.X));
    most = std::max(most, this->AxisPosition(mark.X));
  }
  if (least > most) {
    least = 0;
    most = 1;
  }
  if (this->Logarithmic) {
    least = std::floor(std::min(least, 0.0));
    most = std::max(std::ceil(most), least + 3);
  } else if (!this->WholeNumbers) {
    least = 0;
  }
  this->AxisMin = least;
  this->AxisMax = most > least ? most : least + 1;
  top = top > 0 ? top * 1.08 : 1;
  this->YTickStep = NiceTickStep(top, 4);
  this->YMax = top;
}

QRectF ReportPlot::PlotArea() const
{
  const QFontMetricsF text(this->font());
  double widest = 0;
  for (double y = 0; y <= this->YMax; y += this->YTickStep) {
    widest = std::max(widest, text.horizontalAdvance(NumberText(y)));
  }
  const double left = widest + 2 * Gap, top = text.height() + 2 * Gap, bottom = text.height() + Gap;
  return {left, top, std::max(this->width() - left - 2 * Gap, 10.0),
      std::max(this->height() - top - bottom, 10.0)};
}

QPointF ReportPlot::MapToPixels(const QPointF& point) const
{
  const QRectF area = this->PlotArea();
  const double across = (this->AxisPosition(point.x()) - this->AxisMin) / (this->AxisMax - this->AxisMin);
  return {area.left() + across * area.width(), area.bottom() - point.y() / this->YMax * area.height()};
}

/// Returns a colour between the colour of the background (`textShare` 0) and the colour of text (`textShare`
/// 1).
QColor ReportPlot::BlendedColor(double textShare) const
{
  const QColor from = this->palette().color(QPalette::Base), to = this->palette().color(QPalette::Text);
  const auto mix = [textShare](int a, int b) { return static_cast<int>(a + textShare * (b - a)); };
  return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
}

void ReportPlot::paintEvent(QPaintEvent*)
{
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(this->palette().color(QPalette::Base));
  painter.drawRoundedRect(QRectF(this->rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  this->PaintHeader(painter);
  if (!this->Remark.isEmpty()) {
    painter.setPen(this->BlendedColor(0.6));
    painter.drawText(QRectF(this->rect()).adjusted(Gap, this->PlotArea().top(), -Gap, -Gap),
        Qt::AlignCenter | Qt::TextWordWrap, this->Remark);
    return;
  }
  this->PaintAxes(painter);
  painter.save();
  painter.setClipRect(this->PlotArea().adjusted(-Gap, -Gap, Gap, 1));
  this->PaintBars(painter);
  for (const PlotSeries& series : this->Series) {
    this->PaintSeries(painter, series);
  }
  painter.restore();
  this->PaintMarks(painter);
  this->PaintHint(painter);
}

/// Draws the title and, unless the mouse is in the plot, as many entries of the legend as fit.
void ReportPlot::PaintHeader(QPainter& painter) const
{
  QFont bold = this->font();
  bold.setBold(true);
  painter.setFont(bold);
  painter.setPen(this->palette().color(QPalette::Text));
  const QFontMetricsF boldText(bold), text(this->font());
  const double baseline = Gap + text.ascent();
  const QString title = this->YUnit.isEmpty() ? this->Title : this->Title + ", " + this->YUnit;
  painter.drawText(QPointF(Gap, baseline), title);
  painter.setFont(this->font());
  const double end = 2 * Gap + boldText.horizontalAdvance(title);
  double right = this->width() - Gap;
  for (int i = this->Series.size() - 1; i >= 0 && this->MouseX < 0; --i) {
    const PlotSeries& series = this->Series[i];
    const double width = text.horizontalAdvance(series.Name);
    const double box = text.ascent() * 0.6;
    if (series.Name.isEmpty() || series.Points.isEmpty() || right - width - box - Gap < end) {
      continue;
    }
    painter.setPen(this->BlendedColor(0.75));
    painter.drawText(QPointF(right - width, baseline), series.Name);
    painter.setPen(Qt::NoPen);
    painter.setBrush(series.Color);
    painter.drawRoundedRect(
        QRectF(right - width - box - Gap / 2.0, baseline - box * 1.05, box, box), 1.5, 1.5);
    right -= width + box + 2 * Gap;
  }
}

void ReportPlot::PaintAxes(QPainter& painter) const
{
  const QRectF area = this->PlotArea();
  const QFontMetricsF text(this->font());
  for (double y = 0; y <= this->YMax; y += this->YTickStep) {
    const double height = this->MapToPixels({0, y}).y();
    painter.setPen(QPen(this->BlendedColor(y > 0 ? 0.12 : 0.45), 1));
    painter.drawLine(QPointF(area.left(), height), QPointF(area.right(), height));
    painter.setPen(this->BlendedColor(0.65));
    painter.drawText(QRectF(0, height - text.height() / 2, area.left() - Gap / 2.0, text.height()),
        Qt::AlignRight | Qt::AlignVCenter, NumberText(y));
  }
  this->PaintXTicks(painter);
}

void ReportPlot::PaintXTicks(QPainter& painter) const
{
  const QRectF area = this->PlotArea();
  const QFontMetricsF text(this->font());
  const double unitLeft = area.right() - text.horizontalAdvance(this->XUnit);
  const int ticks = static_cast<int>(area.width() / (text.horizontalAdvance("00000") + Gap));
  double step = this->Logarithmic ? std::max(1.0, std::ceil((this->AxisMax - this->AxisMin) / ticks))
                                  : NiceTickStep(this->AxisMax - this->AxisMin, ticks);
  step = this->WholeNumbers ? std::max(step, 1.0) : step;
  painter.setPen(this->BlendedColor(0.65));
  painter.drawText(QRectF(unitLeft, area.bottom(), area.right() - unitLeft + Gap, text.height() + 2),
      Qt::AlignLeft | Qt::AlignBottom, this->XUnit);
  for (double position = std::ceil(this->AxisMin / step) * step; position <= this->AxisMax * (1 + 1e-9);
       position += step) {
    const double x = this->Logarithmic ? std::exp2(position) : position;
    const double middle = this->MapToPixels({x, 0}).x();
    const QString label = NumberText(std::abs(x) < step * 1e-6 ? 0 : x);
    const double half = text.horizontalAdvance(label) / 2;
    if (middle + half < unitLeft - Gap) {
      painter.drawText(QRectF(middle - half - 2, area.bottom(), 2 * half + 4, text.height() + 2),
          Qt::AlignHCenter | Qt::AlignBottom, label);
    }
  }
}

void ReportPlot::PaintSeries(QPainter& painter, const PlotSeries& series) const
{
  if (series.DrawStyle == PlotSeries::Bars || series.Points.isEmpty()) {
    return;
  }
  if (series.DrawStyle == PlotSeries::Dots) {
    const double radius = series.Radius > 0 ? series.Radius : 3;
    painter.setPen(QPen(this->palette().color(QPalette::Base), 1));
    painter.setBrush(series.Color);
    for (const QPointF& point : series.Points) {
      painter.drawEllipse(this->MapToPixels(point), radius, radius);
    }
    return;
  }
  QPainterPath path(this->MapToPixels(series.Points.front()));
  for (int i = 1; i < series.Points.size(); ++i) {
    const QPointF next = this->MapToPixels(series.Points[i]);
    if (series.DrawStyle == PlotSeries::Steps) {
      path.lineTo(next.x(), path.currentPosition().y());
    }
    path.lineTo(next);
  }
  painter.setBrush(Qt::NoBrush);
  if (series.DrawStyle == PlotSeries::Area) {
    QPainterPath below = path;
    below.lineTo(path.currentPosition().x(), this->PlotArea().bottom());
    below.lineTo(this->MapToPixels(series.Points.front()).x(), this->PlotArea().bottom());
    QColor light = series.Color;
    light.setAlphaF(0.25);
    painter.fillPath(below, light);
  }
  painter.setPen(
      QPen(series.Color, 1.6, series.DrawStyle == PlotSeries::Steps ? Qt::DashLine : Qt::SolidLine));
  painter.drawPath(path);
}

void ReportPlot::PaintBars(QPainter& painter) const
{
  QVector<double> stack;
  for (const PlotSeries& series : this->Series) {
    if (series.DrawStyle != PlotSeries::Bars) {
      continue;
    }
    stack.resize(std::max(stack.size(), series.Points.size()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(series.Color);
    for (int i = 0; i < series.Points.size(); ++i) {
      const QPointF& point = series.Points[i];
      const QPointF low = this->MapToPixels({point.x() - 0.38, stack[i]});
      const QPointF high = this->MapToPixels({point.x() + 0.38, stack[i] + point.y()});
      painter.drawRect(QRectF(QPointF(low.x(), high.y()), QPointF(high.x(), low.y())));
      stack[i] += point.y();
    }
  }
}

void ReportPlot::PaintMarks(QPainter& painter) const
{
  const QRectF area = this->PlotArea();
  const QFontMetricsF text(this->font());
  for (const PlotMark& mark : this->Marks) {
    const double x = this->MapToPixels({mark.X, 0}).x();
    painter.setPen(QPen(this->BlendedColor(0.55), 1, Qt::DashLine));
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    painter.setPen(this->BlendedColor(0.75));
    const double width = text.horizontalAdvance(mark.Label);
    const double left = x + width + Gap < area.right() ? x + Gap / 2.0 : x - width - Gap / 2.0;
    painter.drawText(QPointF(left, area.bottom() - Gap), mark.Label);
  }
}

/// Returns the index of the first series' point that is nearest to the mouse along x; -1 if the mouse is
/// outside the plot or the series has no points.
int ReportPlot::NearestPoint() const
{
  if (this->MouseX < 0 || this->Series.isEmpty()) {
    return -1;
  }
  int nearest = -1;
  double least = 1e300;
  const QVector<QPointF>& points = this->Series.front().Points;
  for (int i = 0; i < points.size(); ++i) {
    const double distance = std::abs(this->MapToPixels(points[i]).x() - this->MouseX);
    if (distance < least) {
      least = distance;
      nearest = i;
    }
  }
  return nearest;
}

void ReportPlot::PaintHint(QPainter& painter) const
{
  const int nearest = this->NearestPoint();
  if (nearest < 0) {
    return;
  }
  const QPointF point = this->Series.front().Points[nearest];
  const QString text = nearest < this->Hints.size()
                           ? this->Hints[nearest]
                           : QString("%1 %2: %3 %4")
                                 .arg(NumberText(point.x()), this->XUnit, NumberText(point.y()), this->YUnit);
  const QRectF area = this->PlotArea();
  const double x = this->MapToPixels(point).x();
  painter.setPen(QPen(this->BlendedColor(0.4), 1));
  painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
  painter.setPen(this->palette().color(QPalette::Text));
  painter.drawText(QRectF(0, Gap, this->width() - Gap, QFontMetricsF(this->font()).height()),
      Qt::AlignRight | Qt::AlignVCenter, text);
}

void ReportPlot::mouseMoveEvent(QMouseEvent* event)
{
  this->MouseX = event->pos().x();
  this->update();
}

void ReportPlot::leaveEvent(QEvent*)
{
  this->MouseX = -1;
  this->update();
}
