// What went wrong, as a sentence a person can act on. Libraries here are built without exceptions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace attention {

/// One refused input. `message` is a whole sentence that names the field, the value and the fix.
struct Error {
  enum class Kind {
    type,     ///< the wrong sort of thing (a TypeError in JavaScript)
    range,    ///< the right sort, out of range, or shapes that do not fit (RangeError)
    syntax,   ///< text that is not JSON, or ends too early (SyntaxError)
    version,  ///< a state of a newer major version
    memory,   ///< more than may be allocated
  };
  Kind kind = Kind::range;
  std::string field;  ///< e.g. "heads", "q.shape", "labels[3]"
  std::string message;
};

/// Nothing, or what was wrong with it.
using Check = std::optional<Error>;

/// A value, or why there is none.
template <class T>
class Result {
 public:
  Result(T value) : content_(std::move(value)) {}
  Result(Error error) : content_(std::move(error)) {}
  explicit operator bool() const { return std::holds_alternative<T>(content_); }
  const T& operator*() const { return *std::get_if<T>(&content_); }
  T& operator*() { return *std::get_if<T>(&content_); }
  const T* operator->() const { return std::get_if<T>(&content_); }
  T* operator->() { return std::get_if<T>(&content_); }
  const Error& error() const { return *std::get_if<Error>(&content_); }

 private:
  std::variant<T, Error> content_;
};

}  // namespace attention
