#include "app/typing.h"

#include <algorithm>
#include <utility>

#include "base/number.h"
#include "base/sentence.h"
#include "document/remedy.h"
#include "document/text.h"
#include "views/board/board.h"
#include "views/palette.h"
#include "views/tooltip.h"
#include "views/widgets.h"

namespace app {

using attention::CellRef;
using attention::Tensor;
using base::Error;
using base::Result;
using views::Box;

void Typing::begin(const views::TextTarget& target) {
  screen_.view.text = target;
  TextField field;
  std::string own;
  field.rect = {target.box.x, target.box.y, target.box.width, target.box.height};
  field.zoom = screen_.zoom;
  const document::Option& option = document::option(target.option);
  // A field that is called like its option is named as the option's tooltip is.
  const views::About about = target.name == option.name ? views::about(option.name) : views::About{};
  field.name = views::inWords(about.title.empty() ? base::MessageView(target.name) : about.title);
  field.numeric =
      target.kind == views::TextTarget::Kind::cell || target.kind == views::TextTarget::Kind::parameter;
  const document::OptionType type = option.type;
  const bool isReal = target.kind == views::TextTarget::Kind::option &&
                      (type == document::OptionType::real || type == document::OptionType::scale);
  field.text = field.numeric || isReal ? views::inNumbers(target.text, own) : target.text;
  field.centered = target.centered;
  field.selectAll = target.selectAll;
  field.isCell = field.numeric;
  field.wrong = views::inWords(target.wrong);
  field.searches = target.searches;
  field.dark = screen_.dark();
  screen_.host.beginText(field);
  screen_.wake();
}

bool Typing::end(TextEnd how, std::string_view words) {
  if (!screen_.view.text) return true;
  views::TextTarget target = *screen_.view.text;
  screen_.wake();
  const bool searches =
      target.kind == views::TextTarget::Kind::search || target.kind == views::TextTarget::Kind::palette;
  if (how == TextEnd::typing && !searches) return true;
  if (how != TextEnd::typing) screen_.view.text.reset();
  if (searches) return search(target, how, words), true;
  if (how == TextEnd::cancel) return true;
  if (auto ok = enter(target, words); !ok) {
    screen_.refuse(ok.error());
    // A user who has seen the reason and leaves nevertheless discards the text.
    if (how == TextEnd::leave && !target.wrong.empty() && target.text == words) return true;
    target.text = words, target.wrong = ok.error().said(), target.selectAll = false;
    if (target.kind == views::TextTarget::Kind::cell) {
      const CellRef& c = target.cell;
      screen_.view.selection = {true, c.tensor, c.row, c.col, c.row, c.col};
      screen_.view.drag = {};
    }
    begin(target);
    return false;
  }
  if (how == TextEnd::next || how == TextEnd::previous) typeNext(target, how == TextEnd::next ? 1 : -1);
  return true;
}

void Typing::typeNext(const views::TextTarget& from, int by) {
  if (from.kind == views::TextTarget::Kind::parameter) return typeNextParameter(from, by);
  const views::Layout layout = screen_.makeLayout();
  const views::MatrixPlace* m = layout.find(from.cell.tensor);
  if (from.kind != views::TextTarget::Kind::cell || !m) return;
  const views::Slice slice = views::sliceOf(session_.state(), from.cell.tensor);
  const auto next = views::neighbour(*m, slice, from.cell, by);
  if (!next) return;
  places_.reveal(layout, m->cellBox(next->row - slice.firstRow, next->col - slice.firstCol));
  const views::Fonts fonts;
  views::Requests asked;
  views::Context c = screen_.context(layout, screen_.palette(), fonts, asked);
  views::typeCell(c, *next, {});
  if (!asked.text) return;
  begin(*asked.text);
  focus_.emitSelection();
}

void Typing::typeNextParameter(views::TextTarget from, int by) {
  const Tensor& t = session_.derived().parameter(from.parameter);
  const int at = from.cell.row * t.cols() + from.cell.col + by, row = at / std::max(t.cols(), 1),
            col = at % std::max(t.cols(), 1);
  const auto id = document::derivedNamed(document::name(from.parameter));
  if (!t.contains(0, row, col) || at < 0 || !id) return;
  const auto rect = places_.derived(*id, 0, row, col);
  if (!rect) return;
  screen_.view.experiments.cell.row = row, screen_.view.experiments.cell.col = col;
  from.wrong = {};
  const Box box{rect->x, rect->y, rect->width, rect->height};
  views::TextTarget to =
      views::numberField(document::name(from.parameter), row, col, box, t.at(0, row, col), {});
  to.kind = from.kind, to.parameter = from.parameter;
  begin(to);
}

// Accepts what the control shows: "off" for the smallest value of some options, and the first item of the
// batch as 1.
Result<void> Typing::enterOption(const views::TextTarget& target, std::string_view words) {
  const bool isItem =
      target.option == document::OptionId::batch_item || target.option == document::OptionId::layer;
  const std::string field = target.name.english();
  auto value = document::valueFromJson(words, field);
  if (words == "off" || words == "auto")
    value = words == "off" ? document::Value(document::option(target.option).min) : document::Value(true);
  if (const auto number = document::numberFrom(words, field); !value && number)
    value = document::Value(base::readable(*number));
  const document::OptionType type = document::option(target.option).type;
  const bool isPlain = (type == document::OptionType::names && !words.starts_with('[')) ||
                       (type == document::OptionType::text && !words.starts_with('"'));
  if (isPlain) value = document::Value(std::string(words));
  if (!value) return value.error();
  const double* single = std::get_if<double>(&*value);
  if (single && document::option(target.option).type == document::OptionType::ids)
    value = document::Value(std::vector<int>{static_cast<int>(std::clamp(*single, -1.0, 1e7))});
  if (double* number = std::get_if<double>(&*value); number && isItem) *number -= 1;
  auto done = apply(document::SetOption{target.option, *value});
  if (done) return done;
  if (isItem)
    return base::refuse(Error::Kind::range, field,
                        {base::inQuotes(words),
                         target.option == document::OptionId::layer ? " is no layer; use 1 to "
                                                                    : " is no item of the batch; use 1 to ",
                         session_.state().batch, "."});
  screen_.view.blocked = views::Blocked{target.option, *value, session_.document().revision()};
  return document::withRemedy(session_.state(), target.option, *value, std::move(done.error()));
}

void Typing::search(const views::TextTarget& target, TextEnd how, std::string_view words) {
  const std::string_view typed = words.substr(0, base::clustersWithin(words, 80));
  const bool isCancelled = how == TextEnd::cancel;
  if (target.kind == views::TextTarget::Kind::palette) {
    if (!screen_.view.palette) return;
    views::PaletteView& palette = *screen_.view.palette;
    if (!isCancelled && palette.typed != typed) palette.typed = typed, palette.chosen = 0;
    using End = views::PaletteView::End;
    if (how != TextEnd::typing)
      palette.end = isCancelled ? End::close : how == TextEnd::leave ? End::leave : End::enter;
  } else if (screen_.view.guide) {
    screen_.view.guide->search = isCancelled ? std::string_view() : typed;
    screen_.view.side.wanted = 0;
  }
}

Result<void> Typing::apply(const document::Edit& edit) { return session_.apply(edit, 0, Source::user); }

/// A trained model reads the sentence, and all of its layers are on the board as it does.
Result<void> Typing::read(document::OptionId option, std::string_view words) {
  training::Trainer& trainer = *session_.derived().training.ofLearned();
  const document::State& board = session_.state();
  const auto sequence =
      document::sequenceOf(trainer, document::settingsAfter(board, option, std::string(words)));
  if (!sequence) return sequence.error();
  training::Answer answer;
  const auto& numbers = *training::learnedNumbers(board.training);
  trainer.answer(*sequence, numbers, 0, answer);
  auto recorded = document::recordingOf(board, trainer, numbers, answer);
  if (!recorded) return recorded.error();
  return session_.open(std::move(*recorded), true, Source::user);
}

Result<void> Typing::enter(const views::TextTarget& target, std::string_view words) {
  using Kind = views::TextTarget::Kind;
  if (target.kind == Kind::sentence) {
    const auto option = target.ofKeys ? document::OptionId::key_labels : document::OptionId::labels;
    if (session_.derived().training.ofLearned()) return read(option, words);
    return apply(document::SetOption{option, std::string(words)});
  }
  if (target.kind == Kind::label) {
    return apply(document::SetLabels{target.cell.row,
                                     {std::string(words)},
                                     target.ofKeys ? document::Side::keys : document::Side::queries});
  }
  if (target.kind == Kind::column)
    return apply(document::SetOption{
        document::OptionId::column_names,
        document::columnNamesWith(session_.state(), target.cell.head, target.cell.col, std::string(words))});
  if (target.kind == Kind::option) return enterOption(target, words);
  const CellRef& c = target.cell;
  const bool isParameter = target.kind == Kind::parameter;
  const auto number =
      document::numberFrom(words, isParameter ? document::name(target.parameter) : attention::name(c.tensor));
  if (!number) return number.error();
  if (isParameter) return apply(document::SetParameter{target.parameter, c.row, c.col, 1, 1, {*number}});
  return apply(document::SetCells{c.tensor, c.head, c.row, c.col, 1, 1, {*number}});
}

}  // namespace app
