// `attn lesson`: checks the statements of a lesson, going through each step as a reader would.
#include "document/lesson.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "cli/command.h"
#include "cli/files.h"
#include "document/json.h"
#include "document/preset.h"
#include "document/verdict.h"

namespace cli {
namespace {

struct LessonArguments {
  std::vector<std::string> files;
  bool index = false, quiet = false;
};

struct Found {
  std::string file;
  document::Lesson lesson;
};

/// The given files, and the lessons in given folders, ordered by name.
std::vector<std::string> filesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      all.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
      const std::string name = entry.path().filename().string();
      if (entry.path().extension() == ".json" && name != "index.json" && name != "schema.json" &&
          !name.starts_with("glossary."))
        inside.push_back(entry.path().string());
    }
    std::sort(inside.begin(), inside.end());
    all.insert(all.end(), inside.begin(), inside.end());
  }
  return all;
}

class Report {
 public:
  std::string text;
  int wrong = 0;

  void add(const std::string& line) { text += line + "\n"; }
  void addWrong(const std::string& file, const std::string& sentence) {
    add(file + ": " + sentence);
    ++wrong;
  }

  void rehearse(const Found& found, bool quiet) {
    const document::Rehearsal said = document::rehearse(found.lesson);
    if (!quiet) {
      add(found.file + ": " + std::string(document::name(found.lesson.kind)) + " " + found.lesson.id + ", " +
          found.lesson.title);
      int number = 0;
      for (const std::string& step : said.steps)
        add("  step " + std::to_string(++number) + ": " + (step.empty() ? "nothing to check" : step));
    }
    for (const auto* errors : {&said.refused, &said.untrue})
      for (const base::Error& error : *errors) addWrong(found.file, found.lesson.id + ": " + error.message());
  }
};

/// Checks across lessons: duplicate ids, and ids of lessons that do not exist.
void compare(const std::vector<Found>& all, Report& report) {
  std::set<std::string> ids;
  for (const Found& one : all)
    if (!ids.insert(one.lesson.id).second)
      report.addWrong(one.file,
                      "id: \"" + one.lesson.id + "\" is the id of another lesson too; give each its own.");
  for (const Found& one : all) {
    std::vector<std::string> named = one.lesson.next;
    for (const document::Step& step : one.lesson.steps)
      for (const document::Run& run : step.text)
        if (run.kind == document::Run::Kind::lesson) named.push_back(run.name);
    for (const std::string& id : named)
      if (!ids.contains(id))
        report.addWrong(one.file, one.lesson.id + ": next: there is no lesson \"" + id +
                                      "\" among these files; give its id.");
  }
}

/// The puzzles of a lesson's subject: those in `next` after the first, which only says what to open then.
std::string puzzlesOf(const document::Lesson& lesson, const std::vector<Found>& all) {
  std::string out;
  if (lesson.kind != document::LessonKind::lesson) return out;
  for (std::size_t i = 1; i < lesson.next.size(); ++i)
    for (const Found& one : all)
      if (one.lesson.id == lesson.next[i] && one.lesson.kind == document::LessonKind::puzzle)
        out += (out.empty() ? "" : ", ") + document::jsonQuoted(lesson.next[i]);
  return out;
}

std::string indexOf(const std::vector<Found>& all) {
  std::string out = "{\"lessons\": [";
  const char* separator = "\n";
  for (const Found& one : all) {
    const document::Lesson& l = one.lesson;
    out += separator;
    out += "{\"id\": " + document::jsonQuoted(l.id) + ", \"kind\": \"" + std::string(document::name(l.kind)) +
           "\", \"title\": " + document::jsonQuoted(l.title) +
           ", \"file\": " + document::jsonQuoted(std::filesystem::path(one.file).filename().string()) +
           ", \"steps\": " + std::to_string(l.steps.size());
    if (l.par > 0) out += ", \"par\": " + std::to_string(l.par);
    if (!l.about.empty()) out += ", \"about\": " + document::jsonQuoted(l.about);
    if (const std::string puzzles = puzzlesOf(l, all); !puzzles.empty())
      out += ", \"puzzles\": [" + puzzles + "]";
    out += "}";
    separator = ",\n";
  }
  return out + "\n]}\n";
}

void lesson(const LessonArguments& arguments) {
  std::vector<Found> all;
  Report report;
  for (const std::string& file : filesOf(arguments.files)) {
    auto lessons = document::readLessons(readText(file));
    if (!lessons) report.addWrong(file, lessons.error().message());
    else
      for (document::Lesson& one : *lessons) all.push_back({file, std::move(one)});
  }
  if (!arguments.index) {
    for (const Found& one : all) report.rehearse(one, arguments.quiet);
    if (all.size() > 1) compare(all, report);
    report.add(std::to_string(all.size()) + (all.size() == 1 ? " lesson, " : " lessons, ") +
               (report.wrong == 0 ? "nothing wrong" : std::to_string(report.wrong) + " wrong"));
  } else if (report.wrong == 0) {
    report.text = indexOf(all);
  }
  Output output({});
  output.finish(output.put(report.text));
  if (report.wrong > 0)
    throw Failure{kBadData, std::to_string(report.wrong) + (report.wrong == 1 ? " thing is" : " things are") +
                                " wrong with the lessons; each is named above."};
}

}  // namespace

void addLesson(CLI::App& attn) {
  const auto arguments = std::make_shared<LessonArguments>();
  CLI::App& command = *attn.add_subcommand(
      "lesson", "Verify lessons on the board: every check, solution, prediction and place");
  command
      .add_option("FILE", arguments->files,
                  "Lesson files, or folders of them (index.json, schema.json and glossaries are left out)")
      ->type_name("")
      ->required();
  command.add_flag("--index", arguments->index,
                   "Print the list of lessons, index.json, in the order of the files, and check nothing");
  command.add_flag("--quiet", arguments->quiet, "Print only what is wrong");
  command.footer(
      R"(Examples:
  attn lesson query.json
  attn lesson --quiet web/lessons
Exit status: 0 nothing is wrong, 1 something is, 2 wrong use.)");
  command.callback([arguments] { lesson(*arguments); });
}

}  // namespace cli
