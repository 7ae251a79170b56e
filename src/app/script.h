// The public interface for page scripts, which web/element.d.ts describes, and for the desktop's command
// line. An error leaves everything unchanged.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/places.h"
#include "attention/steps/backward.h"

namespace app {

class Script {
 public:
  Script(Screen& screen, Places& places) : screen_(screen), session_(screen.session), places_(places) {}

  std::string state() const;
  base::Result<void> setState(std::string_view text, bool undoable);
  base::Result<std::string> get(std::string_view option) const;
  base::Result<void> set(std::string_view option, std::string_view json);
  base::Result<void> setTensor(std::string_view name, std::span<const float> data,
                               std::span<const int> shape);
  /// In pixels of the window, as are items().
  base::Result<Rect> locate(std::string_view name, int head, int row, int col);
  base::Result<std::string> explain(std::string_view name, int head, int row, int col,
                                    bool isTranslated) const;
  /// A cell of a tensor, for which no more is computed than for its arithmetic; NaN if there is none.
  float value(std::string_view name, int head, int row, int col) const;
  /// ∂(cell of `name`)/∂(cell of `by`) for every cell of `by`. Valid until the next call.
  base::Result<const attention::Tensor*> gradient(std::string_view name, int head, int row, int col,
                                                  std::string_view by);
  std::string items() const;

 private:
  Rect outside(const views::Box& box) const;

  Screen& screen_;
  Session& session_;
  Places& places_;
  std::unique_ptr<attention::BackwardScratch> scratch_;  // created for the first gradient
  attention::Tensor gradient_;
};

}  // namespace app
