// The document of a playground with everything computed from it, kept up to date, and the events about its
// changes.
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

/// How a document was changed.
enum class ChangeKind {
  /// Cells of the layer were edited: options, the mask, and whether undo and redo are possible are unchanged.
  recomputed,
  edited,
  restored,  ///< by undo, redo or reset, or a script wrote a whole tensor
  opened,    ///< a different document
};

class Session {
 public:
  /// Notified of a change after everything has been recomputed, before the event is sent.
  class Follower {
   public:
    virtual void follow(ChangeKind how) = 0;

   protected:
    ~Follower() = default;
  };

  /// The host must outlive the session; it receives the events.
  Session(Host& host, document::State start);
  void setFollower(Follower& follower) { follower_ = &follower; }
  /// What readers cannot change; scripts can.
  void setLock(std::string_view names) { lock_ = names; }

  /// Edits with the same `gesture`, unless 0, are one undo step and send `input` events; endGesture() sends
  /// their `change` event. An edit that is refused changes nothing.
  base::Result<void> apply(const document::Edit& edit, std::uint64_t gesture, Source source);
  /// Applies all edits, or none if one is refused, as a single undo step with a single `change` event that
  /// contains `name`.
  base::Result<void> applyAll(const std::vector<document::Edit>& edits, std::uint64_t gesture, Source source,
                              std::string_view name);
  void endGesture(Source source);
  bool settleSome() { return document_.settleSome(); }  ///< see document::Document
  /// Another head is on the board until what this returns is put back.
  document::Document::Look look(document::Document::Look at) { return document_.look(at); }
  base::Result<void> open(document::State start, bool undoable, Source source);
  /// Opens the board and history saved by files::SessionStore.
  base::Result<void> restore(std::string_view bytes);
  /// Opens a preset with its own focused head, decoding step and view. Other view options stay as the reader
  /// has them.
  base::Result<void> openPreset(std::string_view name, bool undoable, Source source);
  bool undo(Source source);
  bool redo(Source source);
  void reset(Source source);
  /// mayGo() is an error if that action would change something locked for readers.
  enum class Way { undo, redo, reset };
  base::Result<void> mayGo(Way way);

  /// How often something other than an edit of the reader's own has changed the board: a script, a lesson, or
  /// another board that was opened.
  int interruptions() const { return interruptions_; }
  const document::State& state() const { return document_.state(); }
  const document::Document& document() const { return document_; }
  const attention::Spec& spec() const { return spec_; }
  const attention::Inputs& inputs() const { return inputs_; }
  const attention::Trace& trace() { return engine_.trace(); }
  /// The trace with at least this head: see attention::Engine. computeNext() computes one of those missing.
  const attention::Trace& traceWith(int head) { return engine_.traceWith(head); }
  const attention::Trace& traceSoon(int head) { return engine_.traceSoon(head); }
  /// See attention::Engine.
  const attention::Trace& shapes() const { return engine_.shapes(); }
  bool isNew(int head) const { return engine_.isNew(head); }
  const attention::Trace& traceFirst(int head, int query) { return engine_.traceFirst(head, query); }
  const attention::Trace& traceOfAll(int query) { return engine_.traceOfAll(query); }
  const float* weightsSoon(int head, int row) { return engine_.weightsSoon(head, row); }
  bool isStored() const { return engine_.shapes().raw.isStored(); }
  bool hasMore() const { return engine_.hasMore(); }
  attention::Engine::Progress progress() const { return engine_.progress(); }
  bool isWhole(int head) const { return engine_.isWhole(head); }
  bool mayWait() const { return engine_.mayWait(); }
  void computeNext(bool isBrief = false) { engine_.computeNext(isBrief); }
  void setThreads(int threads) { engine_.setThreads(threads); }
  attention::Summaries& summaries() { return engine_.summaries(); }
  document::DerivedTensors& derived() { return derived_; }
  /// The pinned board with its results; null if there is none.
  document::Pinned* pinned() { return state().pin.text ? pinnedBoard() : nullptr; }
  /// The tensor with that id; null if the layer does not have it.
  const attention::Tensor* find(attention::TensorId id) { return attention::find(inputs_, trace(), id); }
  /// The same where only the numbers of one head are needed; of all if there is no such head.
  const attention::Tensor* find(attention::TensorId id, int head) {
    const bool isOfHead = head >= 0 && head < spec_.heads && id < attention::TensorId::concat;
    if (id < attention::TensorId::raw) return attention::find(inputs_, engine_.traceOfInputs(), id);
    return isOfHead ? attention::find(inputs_, traceWith(head), id) : find(id);
  }
  /// The trace with what the arithmetic of a cell reads. Of a large layer no other head is computed for it,
  /// and of pairs that are not stored only the rows that are read.
  const attention::Trace& traceOf(attention::TensorId id, int head) {
    if (id >= attention::TensorId::concat) return trace();
    return attention::isOfPairs(id) && !isStored() ? traceSoon(head)
           : id < attention::TensorId::raw         ? engine_.traceOfInputs()
                                                   : traceWith(head);
  }
  /// A copy of a tensor whose numbers are not stored, until the next call; an error if it has too many.
  base::Result<const attention::Tensor*> copyOf(std::string_view name, const attention::Tensor& tensor);
  /// The same for its shape alone: its numbers must not be read.
  const attention::Tensor* shapeOf(attention::TensorId id) const {
    return attention::find(inputs_, engine_.shapes(), id);
  }

 private:
  void compute(const std::vector<attention::Change>& changes);
  void changed(ChangeKind how, Source source, std::string_view action);
  void note(const EditWords& words);
  document::Pinned* pinnedBoard();

  Host& host_;
  Follower* follower_ = nullptr;
  std::string lock_;
  document::Document document_;
  attention::Engine engine_;
  attention::Spec spec_;
  attention::Inputs inputs_;
  attention::Tensor copy_;  ///< of copyOf()
  document::DerivedTensors derived_{document_.state(), engine_};
  std::shared_ptr<document::Pinned> pinned_;
  document::Pin pinnedText_;  ///< the text of pinned_
  int interruptions_ = 0;
  bool pending_ = false;  ///< a gesture is in progress whose `change` event has not been sent
  EditWords gestureWords_;
};

}  // namespace app
