// Conditions on what was read of a file.
#pragma once

#include <string>

namespace patchio {

/// Throws Error("SUBJECT has WHAT.") where a condition does not hold:
///   constexpr Requirement Require("The index");
///   Require(count <= left, "a share that ends too early");
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

}  // namespace patchio
