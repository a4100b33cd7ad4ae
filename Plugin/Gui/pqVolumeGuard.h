/**
 * @class pqVolumeGuard
 * @brief keeps the representation Volume away from what ParaView cannot draw in it
 *
 * VTK draws the blocks of a volume from back to front. Blocks of several levels lie inside each other, and
 * have no such order: VTK then loses some of its blocks' mappers and deletes others twice. So where data of
 * more than one level, by the field array "level", would be drawn as Volume, the representation becomes what
 * it was before, and a message says what to do.
 *
 * Colours of blocks, ParaView's default for blocks, are made for surfaces, and VTK prints errors for each
 * block of a volume that has them: the first array takes their place.
 */
#ifndef pqVolumeGuard_h
#define pqVolumeGuard_h

#include <QHash>
#include <QObject>
#include <QString>

class pqRepresentation;
class vtkObject;
class vtkSMProperty;

class pqVolumeGuard : public QObject
{
  Q_OBJECT
  typedef QObject Superclass;

public:
  explicit pqVolumeGuard(QObject* parent = nullptr);

  ///@{
  /**
   * Called by ParaView when the plugin is loaded, and at the end.
   */
  void startup();
  void shutdown() {}
  ///@}

private Q_SLOTS:
  void addRepresentation(pqRepresentation* representation);
  void onTypeModified(vtkObject* type);
  void onDataUpdated();

private:
  Q_DISABLE_COPY(pqVolumeGuard)

  bool refuseVolume(vtkSMProperty* type);

  QHash<const vtkObject*, QString> Before;  ///< the last type that is not Volume; only compared
};

#endif
