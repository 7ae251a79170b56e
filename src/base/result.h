// What a function that can fail returns: its value, or the field and the sentence that say what is wrong. Libraries here are
// built without exceptions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace base {

/// One refused input: where it stands, and a sentence that names the value and the fix.
struct Error {
  enum class Kind {
    type,     ///< the wrong sort of thing (a TypeError in JavaScript)
    range,    ///< the right sort, out of range, or shapes that do not fit (RangeError)
    syntax,   ///< text that is not JSON, or ends too early (SyntaxError)
    version,  ///< a state of a newer major version
    memory,   ///< more than may be allocated
  };
  Kind kind = Kind::range;
  std::string field;     ///< e.g. "heads", "q.shape", "labels[3]"; empty where the sentence says it all
  std::string sentence;  ///< e.g. "5 is too large; use 1 to 4."
  bool isSubject = false;  ///< the field is the subject of the sentence, so that no colon parts them: "q[0,1,2]", "is NaN; …"

  /// What a person reads: "heads: 5 is too large; use 1 to 4."
  std::string message() const;
};

/// What comes of something that can fail. True when all is well.
template <class T>
class Result;

/// Without a value: true when all is well, as it is from the start; else there is an error.
template <>
class Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  explicit operator bool() const { return !error_; }
  const Error& error() const& { return *error_; }
  Error& error() & { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

/// A value, or why there is none. Only where it is true is there a value, and only where it is false an error.
template <class T>
class Result {
 public:
  Result(T value) : content_(std::move(value)) {}
  /// What is wrong, handed on by a function that returns something else: `failed` must be false.
  Result(Result<void> failed) : content_(std::move(failed).error()) {}
  Result(Error error) : content_(std::move(error)) {}
  explicit operator bool() const { return std::holds_alternative<T>(content_); }
  const T& operator*() const { return *std::get_if<T>(&content_); }
  T& operator*() { return *std::get_if<T>(&content_); }
  const T* operator->() const { return std::get_if<T>(&content_); }
  T* operator->() { return std::get_if<T>(&content_); }
  const Error& error() const& { return *std::get_if<Error>(&content_); }
  Error& error() & { return *std::get_if<Error>(&content_); }
  Error&& error() && { return std::move(*std::get_if<Error>(&content_)); }

 private:
  std::variant<T, Error> content_;
};

}  // namespace base
