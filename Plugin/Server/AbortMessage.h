// The message by which a client stops a read of its pvserver. The message has a unique tag and a unique text.
#pragma once

#include <string_view>

namespace patchio {

constexpr int AbortTag = 1346457409;
/// The text is so long that no other message has it by chance.
constexpr std::string_view AbortText = "PatchIO: stop reading 5d0e81c3f97a46b2";

}  // namespace patchio
