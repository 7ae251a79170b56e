// Finds the positions of cells and controls, and scrolls to them.
#pragma once

#include "app/screen.h"

namespace app {

class Places {
 public:
  explicit Places(Screen& screen) : screen_(screen), session_(screen.session) {}

  /// The rectangle of a cell, of the layer or around it, or of a control, by name. Focuses another head if
  /// necessary.
  base::Result<Rect> locate(std::string_view name, int head, int row, int col);
  /// The rectangle of a cell of a tensor around the layer, on the open page.
  base::Result<Rect> derived(attention::TensorId id, int head, int row, int col);
  /// Scrolls the board until it shows the box.
  void reveal(const views::Layout& layout, const views::Box& content);

 private:
  base::Result<Rect> cell(attention::TensorId id, int head, int row, int col);
  Rect control(std::string_view name, const views::Box& box);
  /// Of a control in a closed section of a phone's sheet: the row of that section, which opens.
  std::optional<Rect> opened(std::string_view name);
  Rect revealed(views::Scroller& panel, const views::Box& box);

  Screen& screen_;
  Session& session_;
};

}  // namespace app
