#include "Base/Bytes.h"

namespace patchio {

std::string JoinTexts(const std::vector<std::string>& texts)
{
  ByteWriter out;
  out.Put(texts);
  const std::vector<std::byte> bytes = out.Take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> SplitTexts(const std::string& joined)
{
  std::vector<std::string> texts;
  if (!joined.empty()) {  // of a rank that has said nothing
    ByteReader(reinterpret_cast<const std::byte*>(joined.data()), joined.size()).Get(texts);
  }
  return texts;
}

}  // namespace patchio
