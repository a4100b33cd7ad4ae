// The date of a reader's time step in the views that show the reader.
#ifndef DateInView_h
#define DateInView_h

#include <QPointer>

#include "vtkSmartPointer.h"

#include <map>
#include <utility>

class pqPipelineSource;
class pqView;
class vtkSMProxy;

/// Of data that have dates (GrADS), as text in a corner. It is no part of the pipeline, so that the reader
/// can be deleted and states hold nothing of it; the reader's property ShowDate turns it off.
class DateInView
{
public:
  /// After each change of what is shown of a reader.
  void Refresh(pqPipelineSource* source);
  /// Before the reader goes.
  void Remove(pqPipelineSource* source);

private:
  struct Label
  {
    QPointer<pqView> View;
    vtkSmartPointer<vtkSMProxy> Text;  ///< a representation
  };

  Label Make(pqPipelineSource* source, pqView* view) const;

  std::map<std::pair<pqPipelineSource*, pqView*>, Label> Labels;
};

#endif
