// The result of a function that can fail: its value, or an error that names the field and says what is wrong.
// Used instead of exceptions, which are disabled in the libraries here.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/message.h"

namespace base {

/// Why an input was refused: the field, and a sentence that names the value and the fix.
struct Error {
  enum class Kind {
    type,     ///< the wrong type (a TypeError in JavaScript)
    range,    ///< the right type but out of range, or shapes that do not match (RangeError)
    syntax,   ///< text that is not valid JSON, or is incomplete (SyntaxError)
    version,  ///< a state file of a newer major version
    memory,   ///< would need more memory than may be allocated
  };
  /// What is wrong with the field, where a caller decides by it.
  enum class Fault {
    other,
    missing,  ///< it is not there
    number,   ///< one of its numbers is NaN or infinite
  };
  Kind kind = Kind::range;
  /// e.g. "heads", "q.shape", "labels[3]"; empty where the sentence is complete by itself.
  std::string field;
  Message sentence;  ///< e.g. "5 is too large; use 1 to 4."
  /// The field is the grammatical subject of the sentence, so no colon follows it: "q[0,1,2]", "is NaN; …".
  bool isSubject = false;
  Fault fault = Fault::other;
  Message place = {};  ///< what readers see instead of a field that has words: "row 2, column 3"

  /// What a person reads: "heads: 5 is too large; use 1 to 4."
  Message said() const;
  /// The same in English.
  std::string message() const;
  /// Is the field no more than the file, or the text, as a whole?
  bool isOfWhole() const { return field == "file" || field == "text"; }
  /// What a person reads after the name of the file.
  Message saidInFile() const { return isOfWhole() ? sentence : said(); }
};

/// Either a value or an error; converts to true when it holds a value.
template <class T>
class Result;

/// The result of a function that returns nothing: success by default, or an error.
template <>
class Result<void> {
 public:
  Result() = default;
  Result(const Error& error) : error_(error) {}
  Result(Error&& error) : error_(std::move(error)) {}
  explicit operator bool() const { return !error_; }
  const Error& error() const& {
    assert(error_);
    return *error_;
  }
  Error& error() & {
    assert(error_);
    return *error_;
  }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

/// A value or an error. operator* and operator-> require a value; error() requires that there is none.
template <class T>
class Result {
 public:
  Result(T value) : content_(std::move(value)) {}
  /// Passes on the error of another function; `failed` must hold an error.
  Result(Result<void>&& failed) : content_(std::move(failed).error()) {}
  Result(const Error& error) : content_(error) {}
  Result(Error&& error) : content_(std::move(error)) {}
  explicit operator bool() const { return std::holds_alternative<T>(content_); }
  const T& operator*() const { return *operator->(); }
  T& operator*() { return *operator->(); }
  const T* operator->() const {
    assert(*this);
    return std::get_if<T>(&content_);
  }
  T* operator->() {
    assert(*this);
    return std::get_if<T>(&content_);
  }
  const Error& error() const& { return *std::get_if<Error>(&content_); }
  Error& error() & { return *std::get_if<Error>(&content_); }
  Error&& error() && { return std::move(*std::get_if<Error>(&content_)); }

 private:
  std::variant<T, Error> content_;
};

}  // namespace base
