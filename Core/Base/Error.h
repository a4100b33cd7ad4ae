// The one exception type of Core: a fault that the user can understand and act on.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace patchio {

/// A fault in what we were given (a file, a name, a number), never a fault of PatchIO itself; those are
/// assertions. what() is complete English, made for the person at the screen.
class Error : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

/// An error about one file: which file, what was expected there, what was found, what to do.
/// All parts are phrases without a full stop; `advice` may be empty.
Error FileError(const std::string& file, const std::string& expected, const std::string& found,
    const std::string& advice = {});

/// A condition on what was read from a file. Throws Error("SUBJECT has WHAT.") where a condition does not
/// hold:
///   constexpr Requirement Require("The index");
///   Require(count <= left, "a shard that ends too early");
class Requirement
{
public:
  explicit constexpr Requirement(const char* subject) : Subject(subject) {}
  void operator()(bool holds, const char* otherwise) const
  {
    if (!holds) {
      this->Fail(otherwise);
    }
  }
  [[noreturn]] void Fail(const std::string& what) const;

private:
  const char* Subject;
};

/// Text of a file that may hold anything, as a message may show it: bytes that are no ASCII become '?'.
std::string PlainText(std::string text);

/// The texts, one a line.
std::string JoinLines(const std::vector<std::string>& texts);

/// "No such file or directory" and the like, for the value of `errno`.
std::string SystemMessage(int errorNumber);

/// Advice on an error of the system, as a phrase for FileError; empty if there is none.
std::string SystemAdvice(int errorNumber);

/// An error for a failed system call: "FILE: No such file or directory; expected a readable file. ADVICE."
/// `expected` is a phrase as in FileError; `errorNumber` is a value of errno. An empty `advice` stands for
/// SystemAdvice(errorNumber).
Error SystemError(
    const std::string& file, const std::string& expected, int errorNumber, const std::string& advice = {});

}  // namespace patchio
