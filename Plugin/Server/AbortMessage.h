// What a client sends to its pvserver to stop a read: a message with a tag and a text that nobody else uses.
#pragma once

#include <string_view>

namespace patchio {

constexpr int AbortTag = 1346457409;
/// Long enough that it stands in no other message by chance.
constexpr std::string_view AbortText = "PatchIO: stop reading 5d0e81c3f97a46b2";

}  // namespace patchio
