// A drawing as pixels, without a display.
#pragma once

#include <memory>
#include <string>

#include "app/board_figure.h"
#include "files/drawing.h"

namespace cli {

/// The bytes of a PNG file, so many times as large; empty where there is no memory for it. Letters are drawn with the faces of the program, and in
/// other scripts with those that the system has.
std::string paint(const files::Drawing& drawing, double scale);

/// The faces that the board is drawn with, without a display.
class BoardFaces {
 public:
  BoardFaces();
  ~BoardFaces();
  BoardFaces(const BoardFaces&) = delete;
  BoardFaces& operator=(const BoardFaces&) = delete;
  app::Faces faces() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cli
