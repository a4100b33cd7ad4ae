/**
 * @class ReportPlot
 * @brief a small plot: lines, areas, steps, dots and stacked bars over one pair of axes
 *
 * QPainter draws the plot in the colours of the user's palette, without a charts library and OpenGL. The
 * corner shows the value under the mouse. The y axis begins at 0.
 */
#ifndef ReportPlot_h
#define ReportPlot_h

#include <QColor>
#include <QPointF>
#include <QString>
#include <QVector>
#include <QWidget>

/// A series of values, drawn in one form.
struct PlotSeries
{
  enum Form
  {
    Line,
    Area,   ///< a line and the area below it
    Steps,  ///< each value holds until the next
    Dots,
    Bars  ///< bars of width 1 around x, stacked on the bars of the series before
  };
  QString Name;  ///< for the legend; empty: not in the legend
  Form As = Line;
  QColor Color;
  QVector<QPointF> Points;
  double Size = 0;  ///< radius of dots, in pixels; 0: default
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
  /// Gives the x axis ticks at whole numbers only.
  void SetWholeNumbers() { this->WholeNumbers = true; }
  /// Draws these series and marks. hints: a text for each x of the first series, to show instead of the value
  /// under the mouse.
  void Show(const QVector<PlotSeries>& series, const QVector<PlotMark>& marks, const QStringList& hints = {});
  /// Shows a text instead of axes and values; an empty text shows axes and values again.
  void SetRemark(const QString& remark);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

private:
  void FindRange();
  QRectF Area() const;
  double AxisPosition(double x) const;
  QPointF Map(const QPointF& point) const;
  QColor Faint(double share) const;
  void PaintHeader(QPainter& painter) const;
  void PaintAxes(QPainter& painter) const;
  void PaintXTicks(QPainter& painter) const;
  void PaintSeries(QPainter& painter, const PlotSeries& series) const;
  void PaintBars(QPainter& painter) const;
  void PaintMarks(QPainter& painter) const;
  void PaintHint(QPainter& painter) const;
  int NearestToMouse() const;

  const QString Title, XUnit, YUnit;
  QString Remark;
  bool Logarithmic = false, WholeNumbers = false;
  QVector<PlotSeries> Series;
  QVector<PlotMark> Marks;
  QStringList Hints;
  /// Left and Right are the range of AxisPosition(), Top is the greatest y, and Step is the distance of y's
  /// ticks.
  double Left = 0, Right = 1, Top = 1, Step = 0.2;
  double MouseX = -1;  ///< pixels; less than 0: the mouse is elsewhere
};

#endif
