#include "app/session.h"

#include <algorithm>
#include <utility>

#include "app/locks.h"
#include "base/sentence.h"
#include "document/pin.h"
#include "document/preset.h"
#include "document/text.h"
#include "files/layout/session_store.h"

namespace app {

using base::Result;

Session::Session(Host& host, document::State start) : host_(host), document_(std::move(start)) {
  document_.takeChanges();
  compute({attention::Change{}});
}

void Session::compute(const std::vector<attention::Change>& changes) {
  spec_ = document::spec(state());
  inputs_ = document::inputs(state());
  if (!changes.empty()) engine_.apply(spec_, inputs_, changes);
  derived_.changed(!changes.empty());
}

Result<void> Session::apply(const document::Edit& edit, std::uint64_t gesture, Source source) {
  const std::uint64_t before = document_.revision();
  const bool couldUndo = document_.canUndo(), couldRedo = document_.canRedo();
  if (auto ok = document::check(state(), edit); !ok) return ok;
  if (source == Source::user) {
    if (auto ok = keepsLocks(lock_, edit); !ok) return ok;
  }
  EditWords words = wordsBefore(state(), edit);
  if (auto ok = document_.apply(edit, gesture); !ok) return ok;
  if (document_.revision() == before) return {};
  interruptions_ += source != Source::user;
  words.after = valueAt(state(), edit);
  compute(document_.takeChanges());
  if (gesture != 0) note(words);
  const bool isOnlyCells = std::holds_alternative<document::SetCells>(edit) &&
                           couldUndo == document_.canUndo() && couldRedo == document_.canRedo();
  if (follower_) follower_->follow(isOnlyCells ? ChangeKind::recomputed : ChangeKind::edited);
  host_.emit({gesture != 0 ? Event::Type::input : Event::Type::change, detail(source, words)});
  if (source == Source::user && state().stepper > 0 && std::holds_alternative<document::SetCells>(edit))
    (void)apply(document::SetOption{document::OptionId::stepper, 0.0}, gesture,
                source);  // the reader goes on to change the numbers
  return {};
}

// The `change` event at the end of a gesture has the value from its beginning; after a stroke over several
// cells, it only names the tensor.
void Session::note(const EditWords& words) {
  if (!std::exchange(pending_, true)) gestureWords_ = words;
  else if (gestureWords_.place == words.place) gestureWords_.after = words.after;
  else gestureWords_ = {words.place.substr(0, words.place.find(',')), "", ""};
}

Result<void> Session::applyAll(const std::vector<document::Edit>& edits, std::uint64_t gesture, Source source,
                               std::string_view name) {
  for (const document::Edit& e : edits) {
    if (auto ok = document::check(state(), e); !ok) return ok;
  }
  for (const document::Edit& e : edits) (void)document_.apply(e, gesture);
  document_.endGesture();
  interruptions_ += source != Source::user;
  compute(document_.takeChanges());
  pending_ = false;
  if (follower_) follower_->follow(ChangeKind::restored);
  host_.emit({Event::Type::change, detail(source, {base::joined({"\"name\":\"", name, "\""}), "", ""})});
  return {};
}

void Session::endGesture(Source source) {
  document_.endGesture();
  if (std::exchange(pending_, false)) host_.emit({Event::Type::change, detail(source, gestureWords_)});
}

void Session::changed(ChangeKind how, Source source, std::string_view action) {
  interruptions_ += source != Source::user || how == ChangeKind::opened;
  compute(document_.takeChanges());
  pending_ = false;
  if (follower_) follower_->follow(how);
  host_.emit({Event::Type::change, detail(source, action)});
}

Result<void> Session::open(document::State start, bool undoable, Source source) {
  if (source == Source::user) {
    if (auto ok = keepsLocks(lock_, "import", state(), start); !ok) return ok;
  }
  // What was computed of a large board need not be in memory beside what undo keeps of it.
  if (auto ok = document_.open(std::move(start), undoable, [this] { engine_.forget(); }); !ok) return ok;
  changed(ChangeKind::opened, source, "open");
  return {};
}

Result<void> Session::restore(std::string_view bytes) {
  if (auto ok = files::restore(bytes, document_); !ok) return ok;
  changed(ChangeKind::opened, Source::script, "restore");
  return {};
}

Result<void> Session::openPreset(std::string_view name, bool undoable, Source source) {
  auto start = document::preset(name);
  if (!start) return start.error();
  document::keepAppearance(*start, state());
  return open(std::move(*start), undoable, source);
}

bool Session::undo(Source source) {
  if (!document_.undo()) return false;
  changed(ChangeKind::restored, source, "undo");
  return true;
}

bool Session::redo(Source source) {
  if (!document_.redo()) return false;
  changed(ChangeKind::restored, source, "redo");
  return true;
}

Result<void> Session::mayGo(Way way) {
  if (lock_.empty()) return {};
  if (way == Way::reset) return keepsLocks(lock_, "reset", state(), document_.start());
  const bool isUndo = way == Way::undo;
  if (!(isUndo ? document_.canUndo() : document_.canRedo())) return {};
  // Undoes or redoes, and reverts that; nothing is recomputed.
  const document::State from = state();
  isUndo ? document_.undo() : document_.redo();
  Result<void> ok = keepsLocks(lock_, "undo", from, state());
  isUndo ? document_.redo() : document_.undo();
  return ok;
}

void Session::reset(Source source) {
  document_.reset();
  changed(ChangeKind::restored, source, "reset");
}

Result<const attention::Tensor*> Session::copyOf(std::string_view name, const attention::Tensor& tensor) {
  const std::int64_t numbers = std::int64_t{tensor.heads()} * tensor.rows() * tensor.cols();
  if (summaries().sampledEach() > 1)
    return base::refuse(
        base::Error::Kind::memory, name,
        {"of ", tensor.rows(), " tokens, only the rows that are looked at are computed; read its cells."});
  if (numbers > attention::Limits::stored)
    return base::refuse(base::Error::Kind::memory, name,
                        {"it has ", numbers, " numbers; at most ", attention::Limits::stored,
                         " are given at once. Use fewer heads or tokens, or read its cells."});
  copy_.reshapeUnwritten(tensor.heads(), tensor.rows(), tensor.cols());
  for (int h = 0; h < tensor.heads(); ++h)
    for (int i = 0; i < tensor.rows(); ++i) std::copy_n(tensor.row(h, i), tensor.cols(), copy_.row(h, i));
  return &copy_;
}

document::Pinned* Session::pinnedBoard() {
  if (!pinned_ || !(pinnedText_ == state().pin)) {
    pinnedText_ = state().pin;
    pinned_ = std::make_shared<document::Pinned>(*pinnedText_.text);
  }
  return pinned_.get();
}

}  // namespace app
