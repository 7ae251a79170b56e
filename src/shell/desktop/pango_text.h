// Text in any script on the desktop: shaped by Pango and drawn by Cairo, with the system's fonts.
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

  /// A position of the caret, before a character or after the last one: byte offset, and x in the units of
  /// the font size.
  struct Place {
    std::size_t byte = 0;
    float x = 0;
  };
  /// All positions in text order; only between grapheme clusters.
  std::vector<Place> carets(std::string_view text, draw::Face face);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace shell
