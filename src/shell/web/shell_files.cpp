// Reads and writes files for the page: web/reader.js calls this in a separate instance of the module, which
// does not draw. Functions that only files need are a third part of the module (split.mjs), fetched when the
// first file is used. There is no glue code: strings and bytes are passed as addresses, and results are left
// in reply().
#include <emscripten/emscripten.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "document/text.h"
#include "files/export/code.h"
#include "files/export/figure.h"
#include "files/layout/opener.h"
#include "files/layout/packed.h"
#include "shell_memory.h"
#include "views/words.h"

namespace {

/// The open file, and the result of the last call.
struct Reader {
  files::Opener opener;
  char* bytes = nullptr;
  std::string reply;
  std::unique_ptr<const document::State> state;  ///< in place of a reply: it is handed over without a copy
  std::unique_ptr<const files::Packing> packing;
  std::size_t heading = 0;

  void drop() { packing.reset(), state.reset(), reply = {}; }
};

Reader& reader() {
  static Reader one;
  return one;
}

/// The reply for an error: its field and its message, with a NUL between them.
int refuse(const base::Error& error) {
  reader().reply = error.field + '\0';
  reader().reply += error.saidInFile().bytes();
  return 0;
}

/// Returns 0 for an error, 1 for a state for the playground, 2 for a form, 3 for JSON for the playground, 4
/// for cells.
int answer(base::Result<files::Opened> opened) {
  using Kind = files::Opened::Kind;
  Reader& r = reader();
  r.drop();
  r.heading = opened ? opened->heading : 0;
  if (!opened) return refuse(opened.error());
  switch (opened->kind) {
    case Kind::state:
      r.state = std::make_unique<const document::State>(std::move(opened->state));
      r.packing = std::make_unique<const files::Packing>(*r.state, *r.state);
      return 1;
    case Kind::form: r.reply = document::toLines(opened->form); return 2;
    case Kind::text: r.reply = std::move(opened->text); return 3;
    case Kind::cells: break;
  }
  r.reply = std::move(opened->text);
  return 4;
}

/// `wanted` is what, style, scale, head, with, colors, width, range, tokens and pool, and a title if there is
/// to be another, separated by U+001F; each may be empty. The lines after it are a table of views::Words.
base::Result<std::string> drawn(std::string_view tensors, std::string_view wanted) {
  const std::size_t line = std::min(wanted.find('\n'), wanted.size());
  views::Words own(wanted.substr(std::min(line + 1, wanted.size())));
  wanted = wanted.substr(0, line);
  files::FigureWords words;
  for (std::string_view* word : {&words.what, &words.style, &words.scale, &words.head, &words.with,
                                 &words.colors, &words.width, &words.range, &words.tokens, &words.pool}) {
    const std::size_t end = wanted.find('\x1f');
    *word = wanted.substr(0, end);
    const bool isLast = end == std::string_view::npos;
    wanted.remove_prefix(isLast ? wanted.size() : end + 1);
    if (word == &words.pool && !isLast) words.title = wanted;
  }
  auto options = files::figureOptions(words);
  if (options)
    options->translated = [&own](std::string_view english) {
      std::string digits;
      return std::string(own.number(own.of(english), digits));
    };
  const auto found =
      options ? files::unpackedTensors(tensors) : base::Result<files::StateTensors>(options.error());
  return found ? files::figureSvg(*found, *options) : base::Result<std::string>(found.error());
}

/// The reply for a text, or why there is none.
int told(base::Result<std::string> text) {
  if (!text) return refuse(text.error());
  reader().reply = std::move(*text);
  return 1;
}

void release() {
  reader().opener.forget();
  std::free(std::exchange(reader().bytes, nullptr));
}

extern "C" void __wasm_call_ctors();

/// Runs static initialisation; to be called once, first.
void begin() {
  shell::useAllMemory();
  __wasm_call_ctors();
}

/// Allocates memory for a file or a text; the call that receives it frees it. 0 if there is not enough.
char* room(std::size_t size) {
  release();
  reader().drop();
  return static_cast<char*>(std::malloc(size + 1));
}

int open(char* bytes, std::size_t size, const char* name) {
  reader().bytes = bytes;
  return answer(reader().opener.open({bytes, size}, name));
}

int paste(char* text, std::size_t size) {
  reader().bytes = text;
  return answer(reader().opener.paste({text, size}));
}

int choose(const char* choices) { return answer(reader().opener.choose(choices)); }

/// Writes the tensors of the board in another format, or as a figure; `only` is the tensor for a table, or
/// describes the figure.
int write(char* bytes, std::size_t size, const char* name, const char* only) {
  reader().bytes = bytes;
  std::string& reply = reader().reply;
  reply.clear();
  reply.reserve(size + (1 << 16));
  if (std::string_view(name).ends_with(".svg")) {
    const int isDone = told(drawn({bytes, size}, only));
    release();
    return isDone;
  }
  const auto done = files::convert({bytes, size}, name, only,
                                   [&reply](std::string_view piece) { return reply.append(piece), true; });
  if (!done) refuse(done.error());
  release();
  return done ? 1 : 0;
}

/// The layer of a state as a program; 0 with an error if that is not possible.
int code(const char* state, const char* language) {
  const auto wanted = files::languageNamed(language);
  if (!wanted)
    return refuse({base::Error::Kind::range, "language",
                   std::string(language) + " is not one; use numpy, torch, jax or latex."});
  const auto read = document::fromText(state, document::State{});
  return told(read ? files::toCode(*read, *wanted) : base::Result<std::string>(read.error()));
}

std::string_view pieceOf(std::size_t index) {
  const Reader& r = reader();
  return r.packing ? r.packing->piece(index) : index == 0 ? std::string_view(r.reply) : std::string_view();
}

/// The reply is in one or more pieces.
const char* reply(std::size_t index) { return pieceOf(index).data(); }
/// 0 after the last one.
std::size_t replySize(std::size_t index) { return pieceOf(index).size(); }
/// The row of the table that was opened last that is taken as a heading, from 1; 0 if there is none.
std::size_t heading() { return reader().heading; }
/// Releases the file and the result.
void forget() {
  release();
  reader().drop();
}

/// In the order of CALLS in web/reader.js.
const struct {
  decltype(&begin) begin;
  decltype(&room) room;
  decltype(&open) open;
  decltype(&paste) paste;
  decltype(&choose) choose;
  decltype(&write) write;
  decltype(&code) code;
  decltype(&reply) reply;
  decltype(&replySize) replySize;
  decltype(&heading) heading;
  decltype(&forget) forget;
  decltype(&std::malloc) malloc;
  decltype(&std::free) free;
} calls{begin, room,      open,    paste,  choose,      write,    code,
        reply, replySize, heading, forget, std::malloc, std::free};

}  // namespace

/// The address of the table of calls: exporting each call would make them part of the first frame's module.
/// Functions used only by them are moved out (functions.mjs).
extern "C" EMSCRIPTEN_KEEPALIVE const void* playground_files() { return &calls; }
