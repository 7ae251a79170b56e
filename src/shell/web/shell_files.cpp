// files.wasm: what reads and writes files on the page, apart from what draws: web/reader.js runs it beside the page. Fetched when
// the first file comes. No glue: texts and bytes lie in memory at the addresses that cross; answers are left in files_reply().
#include <emscripten/emscripten.h>

#include <cstdlib>
#include <string>

#include "document/text.h"
#include "files/code.h"
#include "files/figure.h"
#include "files/opener.h"
#include "files/packed.h"

namespace {

/// What there is of the file that is open, and the answer of the last call.
struct Reader {
  files::Opener opener;
  char* bytes = nullptr;
  std::string reply;
};

Reader& reader() {
  static Reader one;
  return one;
}

/// 0: refused, 1: a state for the playground, 2: a form, 3: JSON for the playground, 4: cells.
int answer(base::Result<files::Opened> opened) {
  using Kind = files::Opened::Kind;
  Reader& r = reader();
  if (!opened) {
    r.reply = opened.error().message();
    return 0;
  }
  switch (opened->kind) {
    case Kind::state: r.reply = files::packed(opened->state); return 1;
    case Kind::form: r.reply = document::toLines(opened->form); return 2;
    case Kind::text: r.reply = std::move(opened->text); return 3;
    case Kind::cells: break;
  }
  r.reply = std::move(opened->text);
  return 4;
}

/// `wanted` is "what style scale head with colors", each of which may be empty.
bool draw(std::string_view tensors, std::string_view wanted, std::string& reply) {
  files::FigureWords words;
  for (std::string_view* word : {&words.what, &words.style, &words.scale, &words.head, &words.with, &words.colors}) {
    const std::size_t end = std::min(wanted.find(' '), wanted.size());
    *word = wanted.substr(0, end);
    wanted.remove_prefix(std::min(end + 1, wanted.size()));
  }
  const auto options = files::figureOptions(words);
  const auto found = options ? files::unpackedTensors(tensors) : base::Result<files::StateTensors>(options.error());
  auto svg = found ? files::figureSvg(*found, *options) : base::Result<std::string>(found.error());
  reply = svg ? std::move(*svg) : svg.error().message();
  return static_cast<bool>(svg);
}

void release() {
  reader().opener.forget();
  std::free(std::exchange(reader().bytes, nullptr));
}

}  // namespace

extern "C" {

/// Memory for a file or a text, which the call that is given it frees; 0 where there is none.
EMSCRIPTEN_KEEPALIVE char* files_room(std::size_t size) {
  release();
  return static_cast<char*>(std::malloc(size + 1));
}

EMSCRIPTEN_KEEPALIVE int files_open(char* bytes, std::size_t size, const char* name) {
  reader().bytes = bytes;
  return answer(reader().opener.open({bytes, size}, name));
}

EMSCRIPTEN_KEEPALIVE int files_paste(char* text, std::size_t size) {
  reader().bytes = text;
  return answer(reader().opener.paste({text, size}));
}

EMSCRIPTEN_KEEPALIVE int files_choose(const char* choices) { return answer(reader().opener.choose(choices)); }

/// The tensors of the board in another format, or as a figure; `only` is the one of a table, or says what is drawn.
EMSCRIPTEN_KEEPALIVE int files_write(char* bytes, std::size_t size, const char* name, const char* only) {
  reader().bytes = bytes;
  std::string& reply = reader().reply;
  reply.clear();
  reply.reserve(size + (1 << 16));
  if (std::string_view(name).ends_with(".svg")) {
    const bool isDone = draw({bytes, size}, only, reply);
    release();
    return isDone ? 1 : 0;
  }
  const auto done = files::convert({bytes, size}, name, only, [&reply](std::string_view piece) { return reply.append(piece), true; });
  if (!done) reply = done.error().message();
  release();
  return done ? 1 : 0;
}

/// The layer of a state as a program, or 0 and why not.
EMSCRIPTEN_KEEPALIVE int files_code(const char* state, const char* language) {
  std::string& reply = reader().reply;
  const auto wanted = files::languageNamed(language);
  if (!wanted) {
    reply = "language: " + std::string(language) + " is not one; use numpy, torch, jax or latex.";
    return 0;
  }
  const auto read = document::fromText(state, document::State{});
  auto done = read ? files::toCode(*read, *wanted) : base::Result<std::string>(read.error());
  reply = done ? std::move(*done) : done.error().message();
  return done ? 1 : 0;
}

EMSCRIPTEN_KEEPALIVE const char* files_reply() { return reader().reply.data(); }
EMSCRIPTEN_KEEPALIVE std::size_t files_reply_size() { return reader().reply.size(); }
/// Lets go of the file and the answer.
EMSCRIPTEN_KEEPALIVE void files_forget() {
  release();
  reader().reply = {};
}

}  // extern "C"
