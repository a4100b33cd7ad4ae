/**
 * @class ReportPlot
 * @brief A small plot: lines, areas, steps, dots and stacked bars over one pair of axes
 *
 * QPainter draws the plot in the colours of the user's palette, without a charts library or OpenGL. While the
 * mouse is in the plot, the upper right corner shows the nearest point of the first series. The y axis begins
 * at 0.
 */
#ifndef ReportPlot_h
#define ReportPlot_h

#include <QColor>
#include <QPointF>
#include <QString>
#include <QVector>
#include <QWidget>

/// A series of points, drawn in one style.
struct PlotSeries
{
  enum Style
  {
    Line,
    Area,   ///< a line and the area below it
    Steps,  ///< each value holds until the next
    Dots,
    Bars  ///< bars around x; bars with the same index are stacked, the first series below
  };
  QString Name;  ///< entry in the legend; empty: no entry
  Style DrawStyle = Line;
  QColor Color;
  QVector<QPointF> Points;
  double Radius = 0;  ///< radius of dots in pixels; 0: 3 pixels
};

/// A vertical line with a label.
struct PlotMark
{
  double X = 0;
  QString Label;
};

class ReportPlot : public QWidget
{
public:
  ReportPlot(const QString& title, const QString& xUnit, const QString& yUnit, QWidget* parent);

  /// Gives the x axis a logarithmic scale, with ticks at powers of two.
  void SetLogarithmic() { this->Logarithmic = true; }
  /// Limits the ticks of the x axis to whole numbers, and begins the axis at the first point instead of 0.
  void SetWholeNumbers() { this->WholeNumbers = true; }
  /// Replaces the drawn series and marks. `hints`: texts for the points of the first series. For the point
  /// nearest to the mouse, the plot shows the text, or the values of a point without a text.
  void SetSeries(
      const QVector<PlotSeries>& series, const QVector<PlotMark>& marks, const QStringList& hints = {});
  /// Shows `remark` instead of axes and values. Empty: the plot shows axes and values.
  void SetRemark(const QString& remark);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

private:
  void UpdateRange();
  QRectF PlotArea() const;
  double AxisPosition(double x) const;
  QPointF MapToPixels(const QPointF& point) const;
  QColor BlendedColor(double textShare) const;
  void PaintHeader(QPainter& painter) const;
  void PaintAxes(QPainter& painter) const;
  void PaintXTicks(QPainter& painter) const;
  void PaintSeries(QPainter& painter, const PlotSeries& series) const;
  void PaintBars(QPainter& painter) const;
  void PaintMarks(QPainter& painter) const;
  void PaintHint(QPainter& painter) const;
  int NearestPoint() const;

  const QString Title, XUnit, YUnit;
  QString Remark;
  bool Logarithmic = false, WholeNumbers = false;
  QVector<PlotSeries> Series;
  QVector<PlotMark> Marks;
  QStringList Hints;
  /// The range of the x axis in units of AxisPosition(); the upper end of the y axis, and the distance of the
  /// y axis's ticks.
  double AxisMin = 0, AxisMax = 1, YMax = 1, YTickStep = 0.2;
  double MouseX = -1;  ///< x of the mouse in pixels; less than 0: the mouse is outside the plot
};

#endif
