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

/// A text in a corner for data that have dates (GrADS). It is not part of the pipeline, so that the reader
/// can be deleted and state files do not contain it. The reader's property ShowDate turns it off.
class DateInView
{
public:
  /// Updates the texts of a reader. To be called after the reader, or a filter of the reader, is shown or
  /// hidden.
  void Refresh(pqPipelineSource* source);
  /// Removes the texts of a reader. To be called before the reader is deleted.
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
