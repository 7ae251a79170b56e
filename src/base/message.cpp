#include "base/message.h"

#include <algorithm>
#include <utility>

namespace base {
namespace {

constexpr char kMark = MessageView::kMark, kEnd = MessageView::kEnd;
constexpr std::string_view kKinds = "tnfm";  // in the order of MessageView::Part::Kind

/// What others have written must not be taken for a mark.
void appendPlain(std::string& out, std::string_view text) {
  for (const char c : text) out += c == kMark || c == kEnd ? '?' : c;
}

}  // namespace

void Piece::appendTo(std::string& out) const {
  if (kind_ == Kind::number) out += std::to_string(number_);
  else if (kind_ == Kind::message) out += MessageView(text_).english();
  else out += text_;
}

void Piece::encodeTo(std::string& out) const {
  if (kind_ == Kind::fixed) {
    out += text_;
    return;
  }
  if (kind_ == Kind::message && text_.empty()) return;
  out += kMark, out += kKinds[static_cast<std::size_t>(kind_)];
  if (kind_ == Kind::number) out += std::to_string(number_);
  else if (kind_ == Kind::text) appendPlain(out, text_);
  else out += text_;
  out += kEnd;
}

Message::Message(std::string_view text) { appendPlain(bytes_, text); }

Message::Message(std::initializer_list<Piece> pieces) {
  for (const Piece& piece : pieces) piece.encodeTo(bytes_);
}

Message Message::ofBytes(std::string_view bytes) {
  Message out;
  out.bytes_ = bytes;
  return out;
}

Message& Message::operator+=(const Message& more) {
  bytes_ += more.bytes_;
  return *this;
}

MessageView::Part MessageView::next() {
  std::size_t end = std::min(bytes_.find(kMark, bytes_[0] == kMark ? 1 : 0), bytes_.size());
  Part part{Part::Kind::fixed, bytes_.substr(0, end)};
  if (bytes_[0] == kMark) {
    int depth = 1;
    for (end = 1; end < bytes_.size() && depth > 0; ++end)
      depth += bytes_[end] == kMark ? 1 : bytes_[end] == kEnd ? -1 : 0;
    const std::size_t ends = depth == 0 ? end - 1 : end, from = std::min<std::size_t>(2, ends);
    const std::size_t kind = from > 1 ? kKinds.find(bytes_[1]) : std::string_view::npos;
    part = {kind < kKinds.size() ? static_cast<Part::Kind>(kind) : Part::Kind::text,
            bytes_.substr(from, ends - from)};
  }
  bytes_.remove_prefix(end);
  return part;
}

std::string MessageView::english() const {
  std::string out;
  for (MessageView rest = *this; !rest.empty();) {
    const Part part = rest.next();
    if (part.kind == Part::Kind::message) out += MessageView(part.bytes).english();
    else out += part.bytes;
  }
  return out;
}

std::string MessageView::id() const {
  std::string out;
  for (MessageView rest = *this; !rest.empty();) {
    const Part part = rest.next();
    if (part.kind == Part::Kind::fixed) out += part.bytes;
    else out += "{}";
  }
  return out;
}

}  // namespace base
