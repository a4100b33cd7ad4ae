// The message by which a client stops a read of its pvserver.
#pragma once

#include <string_view>

namespace patchio {

/// The tag of the message. Other messages of ParaView have other tags.
constexpr int AbortTag = 1346457409;
/// The text of the message. The text is so long that other messages do not contain it by chance.
constexpr std::string_view AbortText = "PatchIO: stop reading 5d0e81c3f97a46b2";

}  // namespace patchio
