#include "Support/Bytes.h"

#include <algorithm>

namespace patchio {

std::string JoinTexts(const std::vector<std::string>& texts)
{
  std::string joined;
  for (const std::string& text : texts) {
    joined += text + '\0';
  }
  return joined;
}

std::vector<std::string> SplitTexts(const std::string& joined)
{
  std::vector<std::string> texts;
  for (std::size_t begin = 0, end; begin < joined.size(); begin = end + 1) {
    end = std::min(joined.find('\0', begin), joined.size());
    texts.push_back(joined.substr(begin, end - begin));
  }
  return texts;
}

}  // namespace patchio
