/**
 * @class vtkPVPatchReader
 * @brief The reader within ParaView, whose reads a client of a pvserver can stop
 *
 * While a pvserver executes, the server receives no messages, and its client waits. But the server sends
 * progress, and the client may reply with an abort message. pqReadAbort sends this message when the user
 * presses Esc or the abort button. Each time the reader reports progress (about every 10 ms), rank 0 looks
 * for an abort message in the socket, without receiving the message. If a message waits, rank 0 sets
 * AbortExecute, which the reader passes on to the other ranks.
 *
 * The message stays in the socket until the server has finished the client's request, so that all reads of
 * this request end, for example the reads of a filter over all time steps. The server then receives and
 * ignores the message before the next request begins. So later reads do not see the message.
 *
 * During a read, the server sends its progress 20 times a second instead of once a second.
 *
 * Processes without a client (builtin servers, pvbatch, ranks other than 0) receive no abort messages.
 */
#ifndef vtkPVPatchReader_h
#define vtkPVPatchReader_h

#include "vtkPatchIOServerModule.h"  // for the export macro
#include "vtkPatchReader.h"
#include "vtkWeakPointer.h"  // for the connection

#include <string_view>

class vtkSocketCommunicator;

class VTKPATCHIOSERVER_EXPORT vtkPVPatchReader : public vtkPatchReader
{
public:
  static vtkPVPatchReader* New();
  vtkTypeMacro(vtkPVPatchReader, vtkPatchReader);

  /// The tag of the abort message. Other messages of ParaView have other tags.
  static constexpr int AbortTag = 1346457409;
  /// The text of the abort message. The text is so long that other messages do not contain it by chance.
  static constexpr std::string_view AbortText = "PatchIO: stop reading 5d0e81c3f97a46b2";

protected:
  vtkPVPatchReader();
  ~vtkPVPatchReader() override;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPVPatchReader(const vtkPVPatchReader&) = delete;
  void operator=(const vtkPVPatchReader&) = delete;

  /// Sets AbortExecute if the client has sent an abort message.
  void OnProgress();

  /// The connection to the client, which waits for the read. Null: the reader is not reading, or this process
  /// has no client.
  vtkWeakPointer<vtkSocketCommunicator> Client;
};

#endif
