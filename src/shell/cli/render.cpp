// `attn render`: a figure of the weights, or of the board, without a display.
#include <algorithm>
#include <memory>
#include <optional>

#include "app/board_figure.h"
#include "base/sentence.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"
#include "cli/paper.h"
#include "document/text.h"
#include "files/export/figure.h"
#include "files/export/figure_weights.h"
#include "files/export/long_layer.h"

namespace cli {
namespace {

struct RenderArguments {
  std::string in, out, what, style, scale, head, with, colors, width, range, tokens, pool, weightScale,
      base = "0";
  std::optional<std::string> title;
  bool asOutlines = false;
  Which which;
};

enum class Ending : std::uint8_t { svg, png, pdf };

Ending endingOf(const std::string& out) {
  const std::string ending = base::lowered(out.substr(std::min(out.rfind('.'), out.size())));
  if (ending == ".png") return Ending::png;
  if (ending == ".pdf") return Ending::pdf;
  if (!out.empty() && out != "-" && ending != ".svg" && !out.starts_with("/dev/"))
    throw Failure{
        kWrongUse,
        "--out " + out + ": a figure is written as SVG, PDF or PNG; let the name end in .svg, .pdf or .png."};
  return Ending::svg;
}

std::string contentOf(const files::Drawing& drawing, Ending ending, double scale, bool asOutlines) {
  switch (ending) {
    case Ending::png: return paint(drawing, scale);
    case Ending::pdf: return toPdf(drawing, scale, asOutlines);
    case Ending::svg: break;
  }
  return asOutlines ? toOutlinedSvg(drawing, scale) : files::toSvg(drawing, scale);
}

/// `layer`: its number from 0 among those of a file, from which the state is one.
base::Result<files::Drawing> drawnState(const document::State& state, const files::FigureOptions& options,
                                        std::optional<int> layer) {
  if (options.what == files::FigureOptions::What::board) {
    document::State shown = state;
    if (options.hasHead) {
      if (auto ok = files::checkHead(options, state.heads); !ok) return ok.error();
      shown.focusHead = options.head, shown.averageHeads = false;
    }
    const BoardFaces faces;
    return app::boardFigure(document::toText(shown), options, faces.faces());
  }
  auto tensors = files::collectTensors(state);
  if (!tensors) return tensors.error();
  if (layer) tensors->isOfLayers = true, tensors->shown = *layer;
  return files::figure(*tensors, options);
}

/// The weights of a layer that is too long for the board are drawn without one.
base::Result<files::Drawing> drawn(const Input& input, const Which& asked,
                                   const files::FigureOptions& options) {
  const Which which = byPrefix(input, asked);
  const bool isNamed = asked.layer && !which.layer;
  const std::optional<int> layer = isNamed ? std::optional(*asked.layer - asked.base) : std::nullopt;
  if (options.what != files::FigureOptions::What::board && input.format() != files::Format::json) {
    const auto file = files::readStored(input.bytes(), input.format(), input.stem());
    if (!file) return file.error();
    const files::Entry entry{which.prefix, which.layer.value_or(which.base) - which.base};
    if (auto tensors = files::longLayer(*file, entry, options)) {
      if (layer && *tensors) (*tensors)->isOfLayers = true, (*tensors)->shown = *layer;
      files::FigureOptions whole = options;  // of what is drawn
      whole.queries = whole.keys = {};
      return *tensors ? files::figure(**tensors, whole) : tensors->error();
    }
  }
  return drawnState(layerOf(input, which), options, layer);
}

void render(const RenderArguments& arguments) {
  files::FigureWords words{arguments.what,   arguments.style,  arguments.scale, arguments.head,
                           arguments.with,   arguments.colors, arguments.width, arguments.range,
                           arguments.tokens, arguments.pool,   arguments.title, arguments.weightScale,
                           arguments.base};
  const auto options = files::figureOptions(words);
  if (!options) throw Failure{kWrongUse, "--" + options.error().message()};
  const Ending ending = endingOf(arguments.out);
  const Input input("STATE", arguments.in);
  Which which = arguments.which;
  which.base = options->base;
  const files::Drawing drawing = valueOf(input.path(), drawn(input, which, *options));
  const bool isFitted = options->what == files::FigureOptions::What::board && options->width > 0;
  const double scale = static_cast<double>(options->scale) * (isFitted ? options->width / drawing.width : 1);
  const std::string content = contentOf(drawing, ending, scale, arguments.asOutlines);
  if (content.empty())
    throw Failure{
        kBadData,
        "--scale " + arguments.scale +
            ": the picture would be larger than there is memory for; give a smaller one, or write SVG."};
  Output output(arguments.out);
  output.finish(output.put(content));
}

}  // namespace

void addRender(CLI::App& attn) {
  const auto arguments = std::make_shared<RenderArguments>();
  CLI::App& command = *attn.add_subcommand("render", "Draw a layer as a figure (SVG, PDF, PNG)");
  command
      .add_option("STATE", arguments->in,
                  "A state or tensors, or - for standard input: " + files::formatList())
      ->type_name("")
      ->required();
  const auto add = [&](const char* name, auto& to, const char* type, const char* help) {
    command.add_option(name, to, help)->type_name(type);
  };
  add("-o,--out", arguments->out, "OUT",
      "The file to write, .svg, .pdf or .png (default: SVG to standard output)");
  add("--what", arguments->what, "WHAT", "What to draw: weights of one head (default), heads, arcs or board");
  add("--style", arguments->style, "STYLE", "The style: print (default), light or dark");
  add("--width", arguments->width, "WIDTH",
      "How wide the figure is, as in 3.25in, 83mm or 234pt; text keeps a size that can be read in print");
  add("--scale", arguments->scale, "S", "Magnification, 0.1 to 20; a PNG has 96 × S pixels for each inch");
  add("--head", arguments->head, "N", "The head");
  add("--base", arguments->base, "0|1",
      "The number of the first head, layer and token, both here and in the figure (default 0; a board "
      "itself counts from 1)");
  add("--tokens", arguments->tokens, "A:B",
      "Only these tokens, from A up to but not including B; or those of queries and of keys, A:B,C:D");
  add("--range", arguments->range, "LOW,HIGH", "The weights at both ends of the colours (default 0,1)");
  add("--weight-scale", arguments->weightScale, "SCALE",
      "How weights map to colours: linear, sqrt, row (each row has its own) or auto (sqrt from 64 keys on, "
      "the fourth root beyond 1,024; default: as in the state)");
  add("--pool", arguments->pool, "HOW",
      "Where cells would be too small to see, several in one: max, their largest weight, or mean");
  add("--with", arguments->with, "PARTS",
      "What the figure has, of labels, numbers, bar, caption, sums and clear (no background), or none "
      "(default: "
      "the first four)");
  add("--title", arguments->title, "TITLE", "The title; an empty one is left out");
  add("--colors", arguments->colors, "MAP",
      "The colour map of the weights: own (that of the style), cividis or grey");
  command.add_flag("--outlines", arguments->asOutlines,
                   "Draw text as shapes, for places that lack the fonts");
  addWhich(command, arguments->which);
  command.footer(
      R"(Examples:
  attn render board.json -o figure.svg
  attn render layer.npz --what arcs --style dark > arcs.svg
  attn render board.json --what board --scale 3 -o board.png
  attn render attentions.npy --what heads --layer 5 -o layer-5.svg    of weights alone, [layers, heads, queries, keys]
  attn render recording.npz --layer 3 --head 5 --tokens 40:80 --width 3.25in -o column.pdf
Exit status: 0 done, 1 bad data, 2 wrong use.)");
  command.callback([arguments] { render(*arguments); });
}

}  // namespace cli
