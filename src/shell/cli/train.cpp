// `attn train`: trains a small Transformer on a task, and writes its weights.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <memory>

#include "base/number.h"
#include "base/sentence.h"
#include "cli/bar.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"
#include "document/training.h"
#include "files/formats/format.h"
#include "files/layout/match.h"
#include "files/layout/trained_model.h"

namespace cli {
namespace {

using training::Trainer;

struct TrainArguments {
  std::string task = "tags", out, kernel;
  std::vector<std::string> settings;
  int steps = 1000;
  std::uint32_t seed = 7;
  bool json = false;
};

/// During the lifetime of this object, Ctrl-C ends the run but keeps what was learned so far; a second one
/// terminates the program. Only one object may exist at a time, because a signal handler can only access
/// global data.
class Interrupt {
 public:
  Interrupt() {
    came() = 0;
    before() = std::signal(SIGINT, [](int) { came() = 1, std::signal(SIGINT, before()); });
  }
  ~Interrupt() { std::signal(SIGINT, before()); }
  static volatile std::sig_atomic_t& came() {
    static volatile std::sig_atomic_t flag = 0;
    return flag;
  }

 private:
  using Handler = void (*)(int);
  static Handler& before() {
    static Handler handler = SIG_DFL;
    return handler;
  }
};

document::Value valueOf(const std::string& word) {
  if (word == "true" || word == "false") return word == "true";
  if (const auto number = base::parseFloat(word)) return base::readable(*number);
  return word;
}

training::Setup setupOf(const TrainArguments& arguments) {
  document::Settings settings;
  const auto set = [&](const std::string& name, const document::Value& value) {
    const document::Option* option =
        document::optionNamed(name.starts_with("train_") ? name : "train_" + name);
    if (!option || option->id == document::OptionId::train_running || !option->name.starts_with("train_")) {
      std::vector<std::string> names;
      for (const document::Option& o : document::options()) {
        if (o.name.starts_with("train_") && o.id != document::OptionId::train_running)
          names.emplace_back(o.name);
      }
      throw Failure{kWrongUse, "--set: there is no " + base::inQuotes(name) + "; perhaps " +
                                   base::orList(base::nearest("train_" + name, names, 3)) + " was meant."};
    }
    if (auto ok = document::checkAlone(*option, value); !ok)
      throw Failure{kWrongUse, "--set " + ok.error().message()};
    settings = document::settingsAfter(settings, option->id, value);
  };
  set("train_task", arguments.task);
  settings.training = training::recommended(settings.training.task);
  set("train_seed", static_cast<double>(arguments.seed));
  for (const std::string& word : arguments.settings) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
      throw Failure{kWrongUse,
                    "--set " + word + ": it is not of the form key=value; use, for example, d_model=32."};
    set(word.substr(0, equals), valueOf(word.substr(equals + 1)));
  }
  return settings.training;
}

// The held-out loss can overflow before that of the batch; JSON cannot express infinity.
std::string number(float value) { return std::isfinite(value) ? base::shortest(value) : "null"; }

std::string line(Trainer& trainer, const training::Measure& held) {
  const training::Point last = trainer.last();
  return base::joined({"{\"step\":", trainer.steps(), ",\"loss\":", number(last.loss),
                       ",\"accuracy\":", number(last.accuracy), ",\"held_out\":{\"loss\":", number(held.loss),
                       ",\"accuracy\":", number(held.accuracy),
                       "},\"gradient_norm\":", number(last.gradientNorm), "}\n"});
}

/// Writes and flushes, so that the lines can be followed through a pipe. A failure is reported at the end:
/// the weights are still trained and written.
class Printer {
 public:
  void print(const std::string& words, std::FILE* to) {
    if (error_ == 0 &&
        (std::fwrite(words.data(), 1, words.size(), to) != words.size() || std::fflush(to) != 0))
      error_ = errno;
  }
  void check() const {
    if (error_ != 0)
      throw Failure{kBadData,
                    std::string("standard output: it cannot be written: ") + std::strerror(error_) + "."};
  }

 private:
  int error_ = 0;
};

void show(Bar& bar, int step, int steps, const training::Measure& held) {
  char words[128];
  std::snprintf(words, sizeof words, "step %d of %d, held out: loss %.3f, accuracy %.1f %%", step, steps,
                static_cast<double>(held.loss), static_cast<double>(held.accuracy) * 100);
  bar.show(step, steps, words);
}

void write(const std::string& path, files::Format format, const Trainer& trainer, Output& output) {
  const files::StoredFile file = files::storedOf(trainer);
  if (auto ok = files::checkWritable(file, format); !ok) throw failureOf(path, ok.error());
  output.finish(files::writeFile(file, format, [&](std::string_view piece) { return output.put(piece); }));
}

void train(const TrainArguments& arguments) {
  auto kernel = attention::kernels::best();
  if (!arguments.kernel.empty()) {
    const auto named = attention::kernels::kernelNamed(arguments.kernel);
    const auto all = attention::kernels::available();
    if (!named || std::find(all.begin(), all.end(), *named) == all.end()) {
      throw Failure{kWrongUse, "--kernel: \"" + arguments.kernel + "\" cannot run here; use one of " +
                                   kernelList() + "."};
    }
    kernel = *named;
  }
  const files::Format format =
      arguments.out.empty() ? files::Format::json : formatToWrite("--out", arguments.out);
  auto made = Trainer::of(setupOf(arguments), kernel);
  if (!made) throw Failure{kWrongUse, made.error().message()};
  Trainer& trainer = **made;
  std::optional<Output> output;
  if (!arguments.out.empty())
    output.emplace(arguments.out);  // before the work, so that a wrong name is reported immediately
  const Interrupt interrupt;
  Printer printer;
  {
    Bar bar;
    std::size_t measures = 0;
    while (trainer.steps() < arguments.steps && !trainer.stopped() && !Interrupt::came()) {
      trainer.run(trainer.steps() + 1);
      if (trainer.history().measures().size() == measures && trainer.steps() % 50 != 0) continue;
      const training::Measure& held = trainer.history().measures().back();
      measures = trainer.history().measures().size();
      show(bar, trainer.steps(), arguments.steps, held);
      if (arguments.json && trainer.steps() < arguments.steps && held.step == trainer.steps()) {
        printer.print(line(trainer, held), stdout);
        if (!output) printer.check();
      }
    }
    show(bar, trainer.steps(), arguments.steps, trainer.measure());
  }
  const training::Measure& held = trainer.measure();
  const training::TaskWords& words = training::words(trainer.setup().task);
  const bool isWatched = held.watched >= 0;
  const std::string said =
      arguments.json
          ? line(trainer, held)
          : base::joined({arguments.task, ": ", trainer.steps(), " steps, loss ", number(trainer.last().loss),
                          "; held out: loss ", number(held.loss), ", accuracy ", number(held.accuracy),
                          isWatched ? ", " : "", isWatched ? words.measure : "", isWatched ? " " : "",
                          isWatched ? number(held.watched) : "", ".\n"});
  // Weights on standard output must not be mixed with text.
  printer.print(said, arguments.out == "-" ? stderr : stdout);
  if (output) write(arguments.out, format, trainer, *output);
  printer.check();
  if (trainer.stopped()) throw Failure{kBadData, trainer.stopped()->message()};
  if (Interrupt::came())
    throw Failure{kBadData, "The run was interrupted after step " + std::to_string(trainer.steps()) +
                                (output ? "; what was learned so far is in " + arguments.out + "." : ".")};
}

constexpr const char* kTrainHelp =
    R"(Tasks: tags, previous, induction, reverse, most_frequent, sort, translate. Each comes with settings that learn it well;
--set replaces some of them: layers, heads, d_model, feed_forward, layer_norm, residual, causal, position, score,
normalizer, optimizer (sgd, momentum, adam), rate, batch, dropout, sentences.
sentences are your own, one a line: for tags with what each word is, "I/pronoun saw/verb it/pronoun",
for translate with the French, "the cat sees it = le chat le voit"; without these they are only answered.
attn run OUT --text "I saw a saw" runs what was learned.
--json prints one object per line: {"step", "loss", "accuracy", "held_out": {"loss", "accuracy"}, "gradient_norm"},
at each evaluation on held-out data; the last one is of the last step, and a loss that is not finite is null.
The same seed and kernel give the same run, bit for bit. Ctrl-C stops it and keeps what was learned.
Exit status: 0 done, 1 interrupted, or a number that is not finite, 2 wrong use.)";

}  // namespace

void addTrain(CLI::App& attn) {
  const auto arguments = std::make_shared<TrainArguments>();
  CLI::App& command = *attn.add_subcommand("train", "Train a small Transformer on a task");
  command.add_option("--task", arguments->task, "The task (default tags)")->type_name("NAME");
  command.add_option("--steps", arguments->steps, "Training steps (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000'000));
  command
      .add_option("--seed", arguments->seed,
                  "Seed of the weights, the batches and what is held out (default 7)")
      ->type_name("N");
  command.add_option("--set", arguments->settings, "Options of the model and the optimiser")
      ->type_name("key=value ...")
      ->expected(1, -1);
  command
      .add_option(
          "--out", arguments->out,
          "The file to write the weights to: " + files::formatList() + ", or - for JSON to standard output")
      ->type_name("OUT");
  command.add_option("--kernel", arguments->kernel, "The instruction set: " + kernelList())
      ->type_name("NAME");
  command.add_flag("--json", arguments->json, "Print the progress, one JSON object per line");
  command.footer(kTrainHelp);
  command.callback([arguments] { train(*arguments); });
}

}  // namespace cli
