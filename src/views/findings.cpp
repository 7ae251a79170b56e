#include "views/findings.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/sentence.h"
#include "base/sort.h"
#include "document/preset.h"
#include "views/control_action.h"
#include "views/guide/glossary.h"
#include "views/guide/list.h"
#include "views/pages/page.h"
#include "views/tooltip.h"
#include "views/widgets.h"

namespace views {
namespace {

using document::Search;
using Found = Search::Found;
using Kind = Finding::Kind;

constexpr std::size_t kKinds = 8, kOfEach = 3, kOfEachAtFirst = 2, kTokens = 8;
constexpr std::string_view kQuery = "query:", kKey = "key:";

class Finder {
 public:
  Finder(Context& c, const Search& search) : c_(c), search_(search) {}

  Findings all() {
    for (const std::string_view name : controlNames())
      if (isReachable(c_, name)) control(name);
    if (!listed(c_.hide, "guide")) cards();
    if (!c_.layout.header.empty()) examples();
    if (c_.view.glossary) terms();
    if (!search_.empty() && !c_.onPage() && c_.layout.find(TensorId::weights)) tokens();
    return best();
  }

 private:
  /// A title and a sentence of the interface are looked at in the reader's language and, less important, in
  /// English.
  Found match(std::string_view title, std::string_view english, std::string_view words) const {
    return search_.in(title, document::folded(base::joined({words, "\n", english})));
  }

  void add(Finding finding) {
    if (finding.found == Found::no) return;
    if (finding.found == Found::text && !search_.empty() && !finding.isKey)
      finding.aside = inWords("in its text");
    groups_[static_cast<std::size_t>(finding.kind)].push_back(std::move(finding));
    ++count_;
  }

  void control(std::string_view name) {
    const About says = about(name);
    const document::Option* option = optionOf(name);
    const document::Value now = option ? document::get(c_.unlabelled(), option->id) : document::Value();
    const bool* on = option ? std::get_if<bool>(&now) : nullptr;
    const base::Message title =
        on ? base::message({says.title, *on ? ": switch off" : ": switch on"}) : base::Message(says.title);
    const std::string shown = inWords(title);
    Finding finding{option && !on ? Kind::option : Kind::command,
                    std::string(name),
                    shown,
                    {},
                    false,
                    match(shown, base::joined({title, "\n", says.words}), inWords(says.words))};
    if (!says.key.empty() && !c_.touch) finding.aside = inWords(says.key), finding.isKey = true;
    else if (const auto page = pageOf(c_, name); page && option)
      finding.aside = inWords(aboutPage(pageOf(*page).name).title);
    add(std::move(finding));
  }

  void cards() {
    if (!c_.view.guide) return;
    int lesson = 0;
    for (const GuideEntry& e : c_.view.guide->entries) {
      if (e.kind == document::LessonKind::example) continue;  // the board that it is about is found itself
      const bool isLesson = e.kind == document::LessonKind::lesson;
      lesson += isLesson;
      const Kind kind = isLesson                                 ? Kind::lesson
                        : e.kind == document::LessonKind::puzzle ? Kind::puzzle
                                                                 : Kind::question;
      add({kind, e.id, e.title, isLesson ? inWords(base::message({"Lesson ", lesson})) : std::string(), false,
           foundIn(*c_.view.guide, e, search_)});
    }
  }

  void examples() {
    for (const document::Preset& p : document::presets()) {
      const std::string shown = inWords(p.title);
      add({Kind::example,
           std::string(p.name),
           shown,
           {},
           false,
           match(shown, base::joined({p.title, "\n", p.about}), inWords(p.about))});
    }
  }

  void terms() {
    for (const document::GlossaryTerm& term : c_.view.glossary->terms) {
      std::string english = term.id;
      for (const std::string& form : term.forms) english += "\n" + form;
      add({Kind::term, term.id, term.name, {}, false, match(term.name, english, term.words)});
    }
  }

  void tokens() {
    const bool cross = c_.state.cross;
    tokensOf(c_.state.labels, c_.rowsSoFar(), kQuery, cross ? "query " : "token ");
    if (cross) tokensOf(c_.state.keyLabels, c_.state.keyTokens, kKey, "key ");
  }

  /// There may be 131,072, of which few can be listed: of each rank the first ones.
  void tokensOf(const std::vector<std::string>& labels, int shown, std::string_view prefix,
                std::string_view what) {
    std::array<std::vector<int>, static_cast<std::size_t>(Found::all) + 1> first;
    const int all = static_cast<int>(labels.size()), number = search_.number();
    for (int i = 0; i < shown; ++i) {
      const std::string& label = labels[static_cast<std::size_t>(i)];
      const Found own = search_.in(label, {}),
                  found = own == Found::no && i + 1 == number ? Found::text : own;
      if (found == Found::no) continue;
      ++count_;
      if (auto& list = first[static_cast<std::size_t>(found)]; list.size() < kTokens) list.push_back(i);
    }
    for (std::size_t rank = first.size(); rank-- > 1;)
      for (const int i : first[rank])
        groups_.back().push_back({Kind::token, base::joined({prefix, i}), labels[static_cast<std::size_t>(i)],
                                  inWords(base::message({what, i + 1, " of ", all})), false,
                                  static_cast<Found>(rank)});
  }

  Findings best() {
    std::vector<Kind> order;
    for (std::size_t i = 0; i < kKinds; ++i) order.push_back(static_cast<Kind>(i));
    const auto isFree = [&](const Finding& one) { return !search_.empty() || obstacleTo(c_, one).empty(); };
    const auto isBetter = [&](const Finding& a, const Finding& b) {
      return a.found != b.found ? a.found > b.found : isFree(a) > isFree(b);
    };
    for (auto& group : groups_) base::stableSort(group, isBetter);
    const auto rank = [&](Kind kind) {
      return groups_[static_cast<std::size_t>(kind)].empty()
                 ? Found::no
                 : groups_[static_cast<std::size_t>(kind)].front().found;
    };
    base::stableSort(order, [&](Kind a, Kind b) { return rank(a) > rank(b); });
    Findings out;
    out.count = count_;
    for (const Kind kind : order) {
      auto& group = groups_[static_cast<std::size_t>(kind)];
      const std::size_t most = kind == Kind::token ? kTokens : search_.empty() ? kOfEachAtFirst : kOfEach;
      std::move(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(std::min(group.size(), most)),
                std::back_inserter(out.shown));
    }
    return out;
  }

  Context& c_;
  const Search& search_;
  std::array<std::vector<Finding>, kKinds> groups_;
  int count_ = 0;
};

}  // namespace

Findings find(Context& c, const Search& search) { return Finder(c, search).all(); }

base::Message obstacleTo(const Context& c, const Finding& finding) {
  switch (finding.kind) {
    case Kind::term:
    case Kind::token: return {};
    case Kind::example: return c.locked("preset") ? whyNot(c, "preset") : base::Message();
    case Kind::lesson:
    case Kind::puzzle:
    case Kind::question: return c.locked("lessons") ? whyNot(c, "lessons") : base::Message();
    default: break;
  }
  if ((finding.id == "undo" && c.canUndo) || (finding.id == "redo" && c.canRedo)) return {};
  return pageOf(c, finding.id) && c.locked("experiment") ? whyNot(c, "experiment") : whyNot(c, finding.id);
}

CellRef cellOf(const Context& c, const Finding& token) {
  const Selection& s = c.view.selection;
  const bool isKey = token.id.starts_with(kKey), isPair = s.active && attention::isOfPairs(s.tensor);
  const int i = std::atoi(token.id.c_str() + (isKey ? kKey : kQuery).size());
  const int row = isKey ? (isPair ? s.row : 0) : i, col = isKey || !c.state.cross ? i : isPair ? s.col : 0;
  return {TensorId::weights, c.state.focusHead, row, col};
}

std::string_view headingOf(Kind kind) {
  switch (kind) {
    case Kind::command: return "COMMANDS";
    case Kind::option: return "OPTIONS";
    case Kind::lesson: return "LESSONS";
    case Kind::puzzle: return "PUZZLES";
    case Kind::question: return "QUESTIONS";
    case Kind::example: return "EXAMPLES";
    case Kind::term: return "TERMS";
    case Kind::token: break;
  }
  return "TOKENS";
}

}  // namespace views
