/**
 * @class vtkPVPatchReader
 * @brief the reader within ParaView: where a pvserver reads, its client can stop that
 *
 * While a pvserver executes, it takes no message of its client, and the client waits for it. But it sends its
 * progress meanwhile, and a client that gets some may answer with an abort message (AbortMessage.h): Esc in
 * the GUI does, see pqReadAbort. Whenever the reader reports progress (about every 10 ms), rank 0 looks,
 * without taking anything, whether such a message waits in the socket, behind others perhaps, and sets
 * AbortExecute then. The other ranks learn of it from the reader.
 *
 * The message remains where it is until the server is done with the client's request, so that all reads of
 * this request end: those of a filter that goes through time, say. It is taken out and ignored when the
 * server receives next, which is before it begins with another request: later reads do not see it.
 *
 * During a read the server sends its progress 20 times a second in place of once.
 *
 * Where there is no client (builtin servers, pvbatch, ranks other than 0) nothing of this happens.
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

  vtkWeakPointer<vtkSocketCommunicator> Client;  ///< who waits for the read; null where nobody does
};

#endif
