// Text of files, which may be no UTF-8, for Python.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

namespace patchio {

/// Names and messages: bytes that are no UTF-8 show as \xff, so that they can be printed and stay different.
inline pybind11::str TextOf(const std::string& text)
{
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

inline pybind11::list TextsOf(const std::vector<std::string>& texts)
{
  pybind11::list list;
  for (const std::string& text : texts) {
    list.append(TextOf(text));
  }
  return list;
}

/// As os.fsdecode() does, so that the file can be opened.
inline pybind11::str PathTextOf(const std::string& path)
{
  return pybind11::reinterpret_steal<pybind11::str>(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

}  // namespace patchio
