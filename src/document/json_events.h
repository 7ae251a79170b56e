// The one reader of JSON: what its users are told of a text, and what a person is told of one that is none.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sentence.h"

namespace document {

/// Receives the events of the parser; returning false stops it, after refuse().
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonEvents(std::string_view text) : text_(text) {}

  base::Result<void> ok;
  bool isPython = false;  ///< the text has a word such as NaN, which JSON has not

  /// Parses the text. An error for one that is not read to its end, of which `field` says what it is.
  base::Result<void> parse(std::string_view field);

  bool binary(nlohmann::json::binary_t&) final { return false; }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& why) override;

 protected:
  /// Keeps the first error.
  bool refuse(base::Error::Kind kind, std::string_view field, base::Message sentence) {
    if (ok) ok = base::Error{kind, std::string(field), std::move(sentence)};
    return false;
  }
  /// The value that would come next: "q.data[7]", or "" where it has no name.
  virtual std::string path() const { return {}; }
  virtual bool isRead() const { return false; }  ///< is the whole value there, so that nothing may follow?

 private:
  base::Message place(std::size_t position) const;

  std::string_view text_, whole_;
};

}  // namespace document
