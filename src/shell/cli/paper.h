// Renders a drawing to pixels without a display.
#pragma once

#include <memory>
#include <string>

#include "app/board_figure.h"
#include "draw/lines.h"
#include "files/export/drawing.h"

namespace cli {

/// The bytes of a PNG file, enlarged by `scale`; empty if there is not enough memory. Text uses the program's
/// fonts, and the system's for other scripts.
std::string paint(const files::Drawing& drawing, double scale);
/// One page of PDF, 3/4 of a point for each pixel; the fonts, as far as they are used, are embedded. The same
/// drawing gives the same bytes. `asOutlines` draws text as shapes, as some printers want it.
std::string toPdf(const files::Drawing& drawing, double scale, bool asOutlines);
/// SVG whose text is shapes, which look the same without the fonts.
std::string toOutlinedSvg(const files::Drawing& drawing, double scale);

/// What shapes text with the system's fonts.
std::unique_ptr<draw::Rasteriser> systemText();

/// The fonts for drawing the board without a display.
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
