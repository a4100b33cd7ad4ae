/**
 * @class pqVolumeGuard
 * @brief refuses the representation Volume for data that ParaView cannot draw as a volume
 *
 * VTK draws the blocks of a volume from back to front. Blocks of several levels lie inside each other and
 * have no such order: VTK then loses some of its blocks' mappers and deletes others twice. So if data of more
 * than one level (by the field array "level") would be drawn as Volume, this class restores the previous
 * representation, and a message says what to do. ParaView itself resamples vtkOverlappingAMR if one rank has
 * all of the data.
 *
 * ParaView colours blocks by their numbers by default. For a volume, VTK would print errors for each block,
 * so this class colours volumes by the first array.
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
   * ParaView calls these methods when it loads the plugin, and at its end.
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

  QHash<const vtkObject*, QString> Before;  ///< the last type other than Volume; pointers are only compared
};

#endif
