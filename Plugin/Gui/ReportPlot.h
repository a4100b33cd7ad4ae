/**
 * @class ReportPlot
 * @brief a small plot: lines, areas, steps, dots and stacked bars over one pair of axes
 *
 * It is drawn by QPainter in the colours of the user's palette, and needs neither a charts library nor
 * OpenGL. The value under the mouse is shown in the corner. The y axis begins at 0.
 */
#ifndef ReportPlot_h
#define ReportPlot_h

#include <QColor>
#include <QPointF>
#include <QString>
#include <QVector>
#include <QWidget>

/// Values that are drawn in one way.
struct PlotSeries
{
  enum Form
  {
    Line,
    Area,   ///< a line and what is below it
    Steps,  ///< each value holds until the next
    Dots,
    Bars  ///< of width 1 around x, stacked on those of the series before
  };
  QString Name;  ///< for the legend; empty: not in the legend
  Form As = Line;
  QColor Color;
  QVector<QPointF> Points;
  double Size = 0;  ///< of dots, in pixels; 0: the usual size
};

/// A vertical line.
struct PlotMark
{
  double X = 0;
  QString Label;
};

class ReportPlot : public QWidget
{
public:
  ReportPlot(const QString& title, const QString& xUnit, const QString& yUnit, QWidget* parent);

  /// The x axis has powers of two.
  void SetLogarithmic() { this->Logarithmic = true; }
  /// The x axis has whole numbers.
  void SetWholeNumbers() { this->WholeNumbers = true; }
  /// hints: a text for each x of the first series, shown instead of the value under the mouse.
  void Show(const QVector<PlotSeries>& series, const QVector<PlotMark>& marks, const QStringList& hints = {});
  /// A text in place of axes and values, if there is nothing to draw; empty: none.
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
  double PlaceOf(double x) const;
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
  double Left = 0, Right = 1, Top = 1, Step = 0.2;  ///< Left, Right: see PlaceOf(); Step: between ticks of y
  double MouseX = -1;                               ///< pixels; less than 0: the mouse is elsewhere
};

#endif
