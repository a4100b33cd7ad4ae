/**
 * @class pqVolumeGuard
 * @brief Refuses the representation Volume for data that ParaView cannot draw as a volume
 *
 * VTK draws the blocks of a volume from back to front. Blocks of several levels lie inside each other, so
 * they have no order from back to front: VTK then loses the mappers of some blocks and deletes others twice.
 * If the user selects Volume for data with several levels (see the field array "level"), this class restores
 * the previous representation and shows a message with alternatives. ParaView itself resamples
 * vtkOverlappingAMR if one rank has all of the data.
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
   * ParaView calls startup() after the plugin is loaded, and shutdown() when the program ends.
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

  /// Replaces Volume in `type`, the property Representation, by the previous representation if ParaView
  /// cannot draw the data as a volume. Returns whether the method has replaced Volume.
  bool refuseVolume(vtkSMProperty* type);

  /// The last representation other than Volume, for each property Representation. The pointers are never
  /// dereferenced.
  QHash<const vtkObject*, QString> PreviousTypes;
};

#endif
