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

/// Greatest number of array names of a grid in the panel; the tooltip has all names.
constexpr int MostNames = 12;

struct GridArrays
{
  QString Grid;
  QStringList Arrays;
};

/// Returns the grids in the order of the property ArraysOfGrids, which lists pairs of a grid and an array.
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
  // The list of arrays above has this order, too.
  for (GridArrays& grid : grids) {
    std::sort(grid.Arrays.begin(), grid.Arrays.end());
  }
  return grids;
}

bool IsShown(const GridArrays& grid, vtkPVDataInformation* data)
{
  return std::any_of(grid.Arrays.begin(), grid.Arrays.end(), [data](const QString& array) {
    const QByteArray name = array.toUtf8();
    return data->GetArrayInformation(name.data(), vtkDataObject::CELL) ||
           data->GetArrayInformation(name.data(), vtkDataObject::POINT);
  });
}

QString Names(const QStringList& all, int most)
{
  const QStringList first = all.mid(0, most);
  const auto more = all.size() - first.size();
  return first.join(", ") + (more > 0 ? QObject::tr(" and %1 more").arg(more) : QString());
}

}  // namespace

pqGridsWidget::pqGridsWidget(vtkSMProxy* smproxy, vtkSMProperty* grids, QWidget* parentWidget)
    : Superclass(grids, smproxy, parentWidget), Arrays(new QLabel(this))
{
  this->Arrays->setWordWrap(true);
  this->Arrays->setTextFormat(Qt::PlainText);
  this->layout()->addWidget(this->Arrays);
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
    lines.append(line.arg(grid.Grid, Names(grid.Arrays, MostNames)));
    all.append(line.arg(grid.Grid, grid.Arrays.join(", ")));
  }
  this->Arrays->setText(lines.join("\n"));
  this->Arrays->setToolTip(all.join("\n"));
  this->Arrays->setVisible(!lines.isEmpty());
}
