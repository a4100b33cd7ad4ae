/**
 * @class vtkPVPatchReader
 * @brief the reader within ParaView: a client can stop the reads of its pvserver
 *
 * While a pvserver executes, it receives no messages, and its client waits. But the server sends its
 * progress, and the client may answer with an abort message (AbortMessage.h). pqReadAbort sends this message
 * when the user presses Esc. Each time the reader reports progress (about every 10 ms), rank 0 checks whether
 * such a message waits in the socket, without receiving it, and then sets AbortExecute. The reader tells the
 * other ranks.
 *
 * The message stays in the socket until the server has finished the client's request, so that all reads of
 * this request end, such as those of a filter that goes through time. The server ignores the message when it
 * receives next, before it begins another request. So later reads do not see it.
 *
 * During a read the server sends its progress 20 times a second instead of once.
 *
 * Processes without a client (builtin servers, pvbatch, ranks other than 0) receive no abort messages.
 */
#ifndef vtkPVPatchReader_h
#define vtkPVPatchReader_h

#include "vtkPatchIOServerModule.h"  // for the export macro
#include "vtkPatchReader.h"
#include "vtkWeakPointer.h"  // for the connection

class vtkSocketCommunicator;

class VTKPATCHIOSERVER_EXPORT vtkPVPatchReader : public vtkPatchReader
{
public:
  static vtkPVPatchReader* New();
  vtkTypeMacro(vtkPVPatchReader, vtkPatchReader);

protected:
  vtkPVPatchReader();
  ~vtkPVPatchReader() override;

  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

private:
  vtkPVPatchReader(const vtkPVPatchReader&) = delete;
  void operator=(const vtkPVPatchReader&) = delete;

  void OnProgress();

  /// The client that waits for the read; null if there is none.
  vtkWeakPointer<vtkSocketCommunicator> Client;
};

#endif
