#include "vtkPVPatchReader.h"

#include <vtkClientSocket.h>
#include <vtkCommand.h>
#include <vtkMultiProcessController.h>
#include <vtkObjectFactory.h>
#include <vtkPVProgressHandler.h>
#include <vtkPVSession.h>
#include <vtkProcessModule.h>
#include <vtkSmartPointer.h>
#include <vtkSocketCommunicator.h>

#include <array>
#include <cstring>

#include <sys/socket.h>

namespace {

/// Interval in seconds between two progress messages.
constexpr double ProgressInterval = 0.05;

/// Returns whether an abort message waits in the client's socket. At most a few requests of a few hundred
/// bytes each precede the message, because the client waits for replies after a few requests.
bool HasAbortMessage(vtkSocketCommunicator& client)
{
  vtkClientSocket* socket = client.GetSocket();
  if (!socket || !socket->GetConnected()) {
    return false;
  }
  std::array<char, 65536> waiting;
  const ssize_t size =
      ::recv(socket->GetSocketDescriptor(), waiting.data(), waiting.size(), MSG_PEEK | MSG_DONTWAIT);
  // Without data, no message waits, or the connection is broken. ParaView detects broken connections by
  // itself.
  return size > 0 &&
         std::string_view(waiting.data(), static_cast<std::size_t>(size)).find(vtkPVPatchReader::AbortText) !=
             std::string_view::npos;
}

/// Makes the server ignore abort messages that arrive while the server expects other messages.
class AbortIgnorer : public vtkCommand
{
public:
  vtkTypeMacro(AbortIgnorer, vtkCommand);
  static AbortIgnorer* New() { return new AbortIgnorer; }

  /// Hides an abort message from later observers. `message`: the received bytes, which begin with the tag.
  void Execute(vtkObject*, unsigned long, void* message) override
  {
    int tag = 0;
    std::memcpy(&tag, message, sizeof(tag));
    if (tag == vtkPVPatchReader::AbortTag) {
      // ParaView's own observer would report an error.
      this->SetAbortFlag(1);
    }
  }
};

/// Makes the server ignore abort messages from `client` until the connection ends, even after the reader is
/// deleted.
void IgnoreAborts(vtkSocketCommunicator& client)
{
  static const auto ignorer = vtkSmartPointer<AbortIgnorer>::New();
  if (!client.HasObserver(vtkCommand::WrongTagEvent, ignorer)) {
    constexpr float priority = 1;
    client.AddObserver(vtkCommand::WrongTagEvent, ignorer, priority);
  }
}

/// Returns ParaView's active session. Null: the program has no session.
vtkPVSession* CurrentSession()
{
  vtkProcessModule* process = vtkProcessModule::GetProcessModule();
  return process ? vtkPVSession::SafeDownCast(process->GetSession()) : nullptr;
}

/// Returns the connection to the client. Null: this process has no client. `session` may be null.
vtkSocketCommunicator* ClientOf(vtkPVSession* session)
{
  vtkMultiProcessController* controller = session ? session->GetController(vtkPVSession::CLIENT) : nullptr;
  return controller ? vtkSocketCommunicator::SafeDownCast(controller->GetCommunicator()) : nullptr;
}

}  // namespace

vtkStandardNewMacro(vtkPVPatchReader);

vtkPVPatchReader::vtkPVPatchReader()
{
  this->AddObserver(vtkCommand::ProgressEvent, this, &vtkPVPatchReader::OnProgress);
  if (vtkSocketCommunicator* client = ClientOf(CurrentSession())) {
    IgnoreAborts(*client);
  }
}

vtkPVPatchReader::~vtkPVPatchReader() = default;

int vtkPVPatchReader::RequestData(
    vtkInformation* request, vtkInformationVector** inputs, vtkInformationVector* outputs)
{
  vtkPVSession* session = CurrentSession();
  this->Client = ClientOf(session);
  if (!this->Client) {
    return this->Superclass::RequestData(request, inputs, outputs);
  }
  IgnoreAborts(*this->Client);
  vtkPVProgressHandler* progress = session->GetProgressHandler();
  const double usualInterval = progress->GetProgressInterval();
  progress->SetProgressInterval(ProgressInterval);
  const int done = this->Superclass::RequestData(request, inputs, outputs);
  progress->SetProgressInterval(usualInterval);
  // An abort that came too late for this read must not stop the next read.
  this->AbortExecute = 0;
  this->Client = nullptr;
  return done;
}

void vtkPVPatchReader::OnProgress()
{
  if (this->Client && HasAbortMessage(*this->Client)) {
    // SetAbortExecute() would count as a change of the reader.
    this->AbortExecute = 1;
  }
}
