// The base class of Core's exceptions: an error that the user can understand and act on.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace patchio {

/// An error in PatchIO's input (a file, a name, a number) or of the system (storage, memory). PatchIO checks
/// its own code with assertions instead. what() is a complete English message for the user.
class Error : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

/// Throws Error(fault) unless `fault` is empty.
inline void ThrowFault(const std::string& fault)
{
  if (!fault.empty()) {
    throw Error(fault);
  }
}

/// Makes an error about one file: what was expected in it, what was found, and what to do. All parts are
/// texts without a full stop at the end; `advice` may be empty.
Error FileError(const std::string& file, const std::string& expected, const std::string& found,
    const std::string& advice = {});

/// Checks conditions on data that was read from a file. Throws Error("SUBJECT has FAULT.") if a condition
/// does not hold:
///   constexpr Requirement Require("The index");
///   Require(count <= left, "a shard that ends too early");
class Requirement
{
public:
  explicit constexpr Requirement(const char* subject) : Subject(subject) {}
  void operator()(bool holds, const char* fault) const
  {
    if (!holds) {
      this->Fail(fault);
    }
  }
  [[noreturn]] void Fail(const std::string& fault) const;

private:
  const char* Subject;
};

/// Replaces all bytes that are not printable ASCII by '?', so that a text from a file can be shown.
std::string PlainText(std::string text);

/// Joins texts with line breaks.
std::string JoinLines(const std::vector<std::string>& texts);

/// Appends `text` to `joined`, with `separator` between them unless one of them is empty.
void AppendText(std::string& joined, const std::string& text, const char* separator = "\n");

/// Returns the system's text for a value of `errno`, such as "No such file or directory".
std::string SystemMessage(int errorNumber);

/// Returns advice to the user about a failed system call, in the form of the parameter `advice` of
/// FileError(), or an empty text if there is no advice. `errorNumber`: a value of `errno`.
std::string SystemAdvice(int errorNumber);

/// Makes an error about a failed system call: "FILE: No such file or directory; expected a readable file.
/// ADVICE." `expected` is a phrase as in FileError(); `errorNumber` is a value of `errno`. If `advice` is
/// empty, the message ends with SystemAdvice(errorNumber).
Error SystemError(
    const std::string& file, const std::string& expected, int errorNumber, const std::string& advice = {});

}  // namespace patchio
