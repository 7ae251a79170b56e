// Where cells and controls are, brought into view.
#pragma once

#include "app/screen.h"

namespace app {

class Places {
 public:
  explicit Places(Screen& screen) : screen_(screen), session_(screen.session) {}

  /// A cell of a tensor of the layer or around it, or a control, by its name. Shows another head where that is asked for.
  base::Result<Rect> locate(std::string_view name, int head, int row, int col);
  /// The cell of a tensor around the layer, on the page that is open.
  base::Result<Rect> derived(attention::TensorId id, int head, int row, int col);
  /// Scrolls the board until it shows that box of it.
  void reveal(const views::Layout& layout, const views::Box& content);

 private:
  base::Result<Rect> cell(attention::TensorId id, int head, int row, int col);
  Rect control(const views::Box& box);
  Rect revealed(views::Scroller& panel, const views::Box& box);

  Screen& screen_;
  Session& session_;
};

}  // namespace app
