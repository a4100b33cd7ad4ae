// Errors that the operating system reports for a file.
#pragma once

#include "Support/Error.h"

#include <string>

namespace patchio {

/// An error for a failed system call: "FILE: No such file or directory; expected a readable file. ADVICE."
/// `expected` is a phrase as in FileError; `errorNumber` is a value of errno. An empty `advice` stands for
/// SystemAdvice(errorNumber).
Error SystemError(const std::string& file, const std::string& expected, int errorNumber,
    const std::string& advice = {});

}  // namespace patchio
