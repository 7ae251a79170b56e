#include <imgui.h>

#include "cli/paper.h"
#include "draw/glyphs.h"
#include "shell/shell.h"

namespace cli {

struct BoardFaces::Parts {
  ImFontAtlas atlas;
  draw::Glyphs glyphs;  // without pictures: letters are recorded, and drawn by others
  views::Fonts fonts;
  std::unique_ptr<draw::Rasteriser> text = systemText();
};

BoardFaces::BoardFaces() : parts_(std::make_unique<Parts>()) {
  ImGuiIO io;
  io.Fonts = &parts_->atlas;
  shell::addFonts(io, parts_->fonts, 1);
  parts_->glyphs.begin(parts_->atlas, 1);
}
BoardFaces::~BoardFaces() = default;
app::Faces BoardFaces::faces() const { return {parts_->atlas, parts_->fonts, 1, *parts_->text}; }

}  // namespace cli
