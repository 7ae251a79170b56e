// A text for readers that keeps its parts: what is always said, and the arguments between. Translation looks
// up the first, "Head {} of {}", and puts the second into the places of what it finds.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace base {

class Message;

/// A reference to a message, or to a text without arguments.
class MessageView {
 public:
  /// One part of a message.
  struct Part {
    enum class Kind : std::uint8_t {
      text,     ///< an argument: a name, a token, digits
      number,   ///< an argument: an integer
      fixed,    ///< belongs to the id
      message,  ///< an argument that is a message itself
    };
    Kind kind = Kind::fixed;
    std::string_view bytes;
  };

  MessageView() = default;
  MessageView(const char* text) : bytes_(text) {}
  MessageView(std::string_view text) : bytes_(text) {}
  MessageView(const std::string& text) : bytes_(text) {}
  MessageView(const Message& message);
  bool empty() const { return bytes_.empty(); }
  bool hasArguments() const { return bytes_.find(kMark) != std::string_view::npos; }
  /// What the message is kept as; the text itself if there are no arguments.
  std::string_view bytes() const { return bytes_; }
  /// Takes the first part off; the message must not be empty.
  Part next();
  /// The text in English.
  std::string english() const;
  /// "Head {} of {}".
  std::string id() const;

  /// An argument is kept between these, after a letter for its kind.
  static constexpr char kMark = '\x0e', kEnd = '\x0f';

 private:
  std::string_view bytes_;
};

/// One piece of a text: a literal, an argument or a message. It only refers to the text, so it must not
/// outlive the expression that creates it.
class Piece {
 public:
  Piece(const char* literal) : text_(literal) {}
  Piece(std::string_view text) : text_(text), kind_(Kind::text) {}
  Piece(const std::string& text) : text_(text), kind_(Kind::text) {}
  Piece(const Message& message);
  template <std::integral T>
  Piece(T number) : number_(static_cast<std::int64_t>(number)),
                    kind_(Kind::number) {}
  /// Its text in English.
  void appendTo(std::string& out) const;
  /// Its part of a message.
  void encodeTo(std::string& out) const;

 private:
  using Kind = MessageView::Part::Kind;
  std::string_view text_;
  std::int64_t number_ = 0;
  Kind kind_ = Kind::fixed;
};

class Message {
 public:
  Message() = default;
  /// A whole text without arguments, translated as it is.
  Message(const char* text) : bytes_(text) {}
  Message(const std::string& text) : Message(std::string_view(text)) {}
  Message(std::string_view text);
  Message(std::initializer_list<Piece> pieces);
  /// The message whose bytes() these are.
  static Message ofBytes(std::string_view bytes);
  bool empty() const { return bytes_.empty(); }
  std::string english() const { return MessageView(*this).english(); }
  std::string_view bytes() const { return bytes_; }
  /// Both in one: the parts of the other follow those of this.
  Message& operator+=(const Message& more);
  friend bool operator==(const Message& a, const Message& b) = default;
  friend bool operator==(const Message& a, std::string_view b) { return a.english() == b; }
  friend bool operator==(const Message& a, const std::string& b) { return a.english() == b; }
  friend bool operator==(const Message& a, const char* b) { return a.english() == b; }

 private:
  std::string bytes_;
};

inline MessageView::MessageView(const Message& message) : bytes_(message.bytes()) {}
inline Piece::Piece(const Message& message) : text_(message.bytes()), kind_(Kind::message) {}

/// A message of these pieces: literals make its id, all others are arguments.
inline Message message(std::initializer_list<Piece> pieces) { return Message(pieces); }

}  // namespace base
