#include "pqGridsWidget.h"

#include "pqCoreUtilities.h"

#include "vtkCommand.h"
#include "vtkDataObject.h"
#include "vtkPVDataInformation.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"

#include <QLabel>
#include <QLayout>

#include <algorithm>

namespace {

/// Maximum number of a grid's array names in the panel; the tooltip has all names.
constexpr int MaximumNames = 12;

/// The names of a grid and of the arrays that have values on the grid.
struct GridArrays
{
  QString Grid;
  QStringList Arrays;
};

/// Returns the grids in the order of the property ArraysOfGrids, which lists pairs of a grid and an array.
/// The arrays of each grid are sorted by name.
QVector<GridArrays> ArraysOfGrids(vtkSMProxy* reader)
{
  vtkSMProperty* property = reader->GetProperty("ArraysOfGrids");
  reader->UpdatePropertyInformation(property);
  const vtkSMPropertyHelper pairs(property);
  QVector<GridArrays> grids;
  for (unsigned int i = 0; i + 1 < pairs.GetNumberOfElements(); i += 2) {
    const QString grid = QString::fromUtf8(pairs.GetAsString(i));
    if (grids.isEmpty() || grids.back().Grid != grid) {
      grids.append({grid, {}});
    }
    grids.back().Arrays.append(QString::fromUtf8(pairs.GetAsString(i + 1)));
  }
  // The panel's list of arrays is sorted by name, too.
  for (GridArrays& grid : grids) {
    std::sort(grid.Arrays.begin(), grid.Arrays.end());
  }
  return grids;
}

/// Returns whether `data` has an array of the grid.
bool IsShown(const GridArrays& grid, vtkPVDataInformation* data)
{
  return std::any_of(grid.Arrays.begin(), grid.Arrays.end(), [data](const QString& array) {
    const QByteArray name = array.toUtf8();
    return data->GetArrayInformation(name.data(), vtkDataObject::CELL) ||
           data->GetArrayInformation(name.data(), vtkDataObject::POINT);
  });
}

/// Returns the first `maximum` names as one text, followed by the number of the other names.
QString JoinNames(const QStringList& names, int maximum)
{
  const QStringList first = names.mid(0, maximum);
  const auto more = names.size() - first.size();
  return first.join(", ") + (more > 0 ? QObject::tr(" and %1 more").arg(more) : QString());
}

}  // namespace

pqGridsWidget::pqGridsWidget(vtkSMProxy* smproxy, vtkSMProperty* grids, QWidget* parentWidget)
    : Superclass(grids, smproxy, parentWidget), Label(new QLabel(this))
{
  this->Label->setWordWrap(true);
  this->Label->setTextFormat(Qt::PlainText);
  this->layout()->addWidget(this->Label);
  pqCoreUtilities::connect(smproxy, vtkCommand::UpdateInformationEvent, this, SLOT(showArrays()));
  pqCoreUtilities::connect(smproxy, vtkCommand::UpdateDataEvent, this, SLOT(showArrays()));
  this->showArrays();
}

pqGridsWidget::~pqGridsWidget() = default;

void pqGridsWidget::showArrays()
{
  vtkPVDataInformation* data = vtkSMSourceProxy::SafeDownCast(this->proxy())->GetDataInformation(0);
  QStringList lines, all;
  for (const GridArrays& grid : ArraysOfGrids(this->proxy())) {
    const QString line = IsShown(grid, data) ? tr("%1 (shown): %2") : tr("%1: %2");
    lines.append(line.arg(grid.Grid, JoinNames(grid.Arrays, MaximumNames)));
    all.append(line.arg(grid.Grid, grid.Arrays.join(", ")));
  }
  this->Label->setText(lines.join("\n"));
  this->Label->setToolTip(all.join("\n"));
  this->Label->setVisible(!lines.isEmpty());
}
