// `attn render`: a figure of the weights, or of the board, without a display.
#include <algorithm>
#include <memory>

#include "app/board_figure.h"
#include "base/sentence.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"
#include "cli/paper.h"
#include "document/text.h"
#include "files/figure.h"

namespace cli {
namespace {

struct RenderArguments {
  std::string in, out, what, style, scale, head, with, colors;
  Which which;
};

base::Result<files::Drawing> drawn(const document::State& state, const files::FigureOptions& options) {
  if (options.what == files::FigureOptions::What::board) {
    const BoardFaces faces;
    return app::boardFigure(document::toText(state), options, faces.faces());
  }
  const auto tensors = files::collectTensors(state);
  if (!tensors) return tensors.error();
  return files::figure(*tensors, options);
}

void render(const RenderArguments& arguments) {
  const auto options = files::figureOptions(
      {arguments.what, arguments.style, arguments.scale, arguments.head, arguments.with, arguments.colors});
  if (!options) throw Failure{kWrongUse, "--" + options.error().message()};
  const std::string ending =
      base::lowered(arguments.out.substr(std::min(arguments.out.rfind('.'), arguments.out.size())));
  const bool isPng = ending == ".png";
  if (!arguments.out.empty() && arguments.out != "-" && !isPng && ending != ".svg" &&
      !arguments.out.starts_with("/dev/"))
    throw Failure{kWrongUse, "--out " + arguments.out +
                                 ": a figure is written as SVG or PNG; let the name end in .svg or .png."};
  const Input input("STATE", arguments.in);
  const document::State state = layerOf(input, arguments.which);
  const files::Drawing drawing = valueOf(input.path(), drawn(state, *options));
  const auto scale = static_cast<double>(options->scale);
  const std::string content = isPng ? paint(drawing, scale) : files::toSvg(drawing, scale);
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
  CLI::App& command = *attn.add_subcommand("render", "Draw a layer as a figure (SVG, PNG)");
  command
      .add_option("STATE", arguments->in,
                  "A state or tensors, or - for standard input: " + files::formatList())
      ->type_name("")
      ->required();
  command
      .add_option("-o,--out", arguments->out,
                  "The file to write, .svg or .png (default: SVG to standard output)")
      ->type_name("OUT");
  command
      .add_option("--what", arguments->what,
                  "What to draw: weights of one head (default), heads, arcs or board")
      ->type_name("WHAT");
  command.add_option("--style", arguments->style, "The style: print (default), light or dark")
      ->type_name("STYLE");
  command.add_option("--scale", arguments->scale, "Magnification, 0.1 to 20")->type_name("S");
  command.add_option("--head", arguments->head, "The head, counted from 0")->type_name("N");
  command
      .add_option("--with", arguments->with,
                  "What the figure has, of labels, numbers, bar, caption, sums and clear (no background), or "
                  "none (default: the first four)")
      ->type_name("PARTS");
  command
      .add_option("--colors", arguments->colors,
                  "The colour map of the weights: own (that of the style), cividis or grey")
      ->type_name("MAP");
  addWhich(command, arguments->which);
  command.footer(
      "Examples:\n  attn render board.json -o figure.svg\n  attn render layer.npz --what arcs --style dark > "
      "arcs.svg\n  attn render board.json --what board --scale 3 -o board.png\n  attn render attentions.npy "
      "--what heads --layer 5 -o layer-5.svg    of weights alone, [layers, heads, queries, keys]\nExit "
      "status: 0 done, 1 bad data, 2 wrong use.");
  command.callback([arguments] { render(*arguments); });
}

}  // namespace cli
