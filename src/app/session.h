// The document of one playground with all that follows from it, kept up to date, and what is said about its changes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/host.h"
#include "app/source.h"
#include "attention/engine/engine.h"
#include "document/derived.h"
#include "document/document.h"

namespace document {
class Pinned;
}

namespace app {

/// How a document became another.
enum class Became {
  recomputed,  ///< cells of the layer were edited: options, the mask, and whether there is an undo or a redo, stay
  edited,
  restored,    ///< as undo, redo or reset had it, or a script wrote a whole tensor
  opened,      ///< it is something else
};

class Session {
 public:
  /// Hears of a change once everything follows from it, before its event is sent.
  class Follower {
   public:
    virtual void follow(Became how) = 0;

   protected:
    ~Follower() = default;
  };

  /// Begins with the first preset. The host outlives the session and is sent its events.
  explicit Session(Host& host);
  void setFollower(Follower& follower) { follower_ = &follower; }
  /// What readers may not change; scripts may.
  void setLock(std::string_view names) { lock_ = names; }

  /// Edits with the same `gesture` other than 0 are one step of undo and send `input`; endGesture() sends their `change`.
  /// A refused edit changes nothing.
  base::Result<void> apply(const document::Edit& edit, std::uint64_t gesture, Source source);
  /// All of them or, where one is refused, none; one step of undo and one `change`, which says `name`.
  base::Result<void> applyAll(const std::vector<document::Edit>& edits, std::uint64_t gesture, Source source, std::string_view name);
  void endGesture(Source source);
  base::Result<void> open(document::State start, bool undoable, Source source);
  /// Opens the board and the history that files::Keeper wrote.
  base::Result<void> restore(std::string_view bytes);
  /// Opens a preset with the head, the decoder's step and the view that it is about. Other things of
  /// how it is shown are as the reader has them.
  base::Result<void> openPreset(std::string_view name, bool undoable, Source source);
  bool undo(Source source);
  bool redo(Source source);
  void reset(Source source);
  /// Would it change what is locked for readers?
  enum class Way { undo, redo, reset };
  base::Result<void> mayGo(Way way);

  const document::State& state() const { return document_.state(); }
  const document::Document& document() const { return document_; }
  const attention::Spec& spec() const { return spec_; }
  const attention::Inputs& inputs() const { return inputs_; }
  const attention::Trace& trace() const { return engine_.trace(); }
  attention::Summaries& summaries() { return engine_.summaries(); }
  document::DerivedTensors& derived() { return derived_; }
  /// The board that is pinned, computed; null without one.
  document::Pinned* pinned() { return state().pin.text ? pinnedBoard() : nullptr; }
  /// The tensor of this layer behind an id, or null.
  const attention::Tensor* find(attention::TensorId id) const { return attention::find(inputs_, trace(), id); }

 private:
  void compute(const std::vector<attention::Change>& changes);
  void changed(Became how, Source source, std::string_view action);
  void note(const EditWords& words);
  document::Pinned* pinnedBoard();

  Host& host_;
  Follower* follower_ = nullptr;
  std::string lock_;
  document::Document document_;
  attention::Engine engine_;
  attention::Spec spec_;
  attention::Inputs inputs_;
  document::DerivedTensors derived_{document_.state(), engine_.trace()};
  std::shared_ptr<document::Pinned> pinned_;
  document::Pin pinnedText_;  ///< of that one
  bool pending_ = false;  ///< a gesture whose change was not sent yet
  EditWords gestureWords_;
};

}  // namespace app
