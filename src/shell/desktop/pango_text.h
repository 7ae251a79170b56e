// Text in any script on the desktop: shaped by Pango, drawn by Cairo, with the faces that the system has.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "draw/lines.h"

namespace shell {

class PangoText final : public draw::Rasteriser {
 public:
  PangoText();
  ~PangoText() override;
  PangoText(const PangoText&) = delete;
  PangoText& operator=(const PangoText&) = delete;

  float measure(std::string_view text, draw::Face face) override;
  draw::LinePicture rasterise(std::string_view text, draw::Face face, std::uint32_t color) override;

  /// Where a caret stands, before each character and after the last one; in bytes, and in the unit of the face's size.
  struct Place {
    std::size_t byte = 0;
    float x = 0;
  };
  /// In the order of the text; only between what a reader takes for characters.
  std::vector<Place> carets(std::string_view text, draw::Face face);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace shell
