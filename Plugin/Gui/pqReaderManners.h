/**
 * @class pqReaderManners
 * @brief small things around our readers that ParaView's XML has no words for
 *
 * - In the pipeline browser, dumps and plotfiles whose files are all named alike (plt00006/Header) have the
 * name of their folder.
 * - File > Reload Files (F5) looks for new dumps at once: ParaView would ask, and its default answer would
 * look for files that are named like the opened one. Of several files opened together it asks still.
 * - Data with dates (GrADS) have the date in view.
 * - Where ParaView asks which reader to take, ours says what it reads. Its label is its name in Python, and
 * stays.
 */
#ifndef pqReaderManners_h
#define pqReaderManners_h

#include "DateInView.h"

#include <QObject>

class pqPipelineSource;

class pqReaderManners : public QObject
{
  Q_OBJECT
  typedef QObject Superclass;

public:
  explicit pqReaderManners(QObject* parent = nullptr);
  ~pqReaderManners() override;

  ///@{
  /**
   * Called by ParaView when the plugin is loaded, and at the end.
   */
  void startup();
  void shutdown();
  ///@}

  bool eventFilter(QObject* watched, QEvent* event) override;

private Q_SLOTS:
  void onSourceAdded(pqPipelineSource* source);
  void onShownChanged();
  void onSourceRemoved(pqPipelineSource* source);

private:
  Q_DISABLE_COPY(pqReaderManners)

  DateInView Dates;
};

#endif
