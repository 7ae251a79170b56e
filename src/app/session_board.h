// The board on the screen, for checking goals.
#pragma once

#include "app/names.h"
#include "document/verdict.h"

namespace app {

class SessionBoard final : public document::LessonBoard {
 public:
  explicit SessionBoard(Session& session) : session_(session) {}
  const document::State& state() const override { return session_.state(); }
  base::Result<const attention::Tensor*> tensor(std::string_view name) override {
    return tensorNamed(session_, name);
  }

 private:
  Session& session_;
};

}  // namespace app
