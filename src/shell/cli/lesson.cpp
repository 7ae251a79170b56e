// `attn lesson`: checks the statements of a lesson, going through each step as a reader would.
#include "document/lesson_list.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "cli/command.h"
#include "cli/files.h"
#include "document/preset.h"
#include "document/verdict.h"

namespace cli {
namespace {

using document::LessonOfFile;

struct LessonArguments {
  std::vector<std::string> files;
  bool index = false, quiet = false;
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

  void rehearse(const LessonOfFile& found, bool quiet) {
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
void compare(const std::vector<LessonOfFile>& all, Report& report) {
  std::set<std::string> ids;
  for (const LessonOfFile& one : all)
    if (!ids.insert(one.lesson.id).second)
      report.addWrong(one.file,
                      "id: \"" + one.lesson.id + "\" is the id of another lesson too; give each its own.");
  for (const LessonOfFile& one : all) {
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

void lesson(const LessonArguments& arguments) {
  std::vector<LessonOfFile> all;
  Report report;
  for (const std::string& file : filesOf(arguments.files)) {
    auto lessons = document::readLessons(readText(file));
    if (!lessons) report.addWrong(file, lessons.error().message());
    else
      for (document::Lesson& one : *lessons)
        all.push_back(
            {arguments.index ? std::filesystem::path(file).filename().string() : file, std::move(one)});
  }
  if (!arguments.index) {
    for (const LessonOfFile& one : all) report.rehearse(one, arguments.quiet);
    if (all.size() > 1) compare(all, report);
    report.add(std::to_string(all.size()) + (all.size() == 1 ? " lesson, " : " lessons, ") +
               (report.wrong == 0 ? "nothing wrong" : std::to_string(report.wrong) + " wrong"));
  } else if (report.wrong == 0) {
    report.text = document::lessonList(std::move(all));
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
                   "Print the list of lessons, as index.json of a site has it, and check nothing");
  command.add_flag("--quiet", arguments->quiet, "Print only what is wrong");
  command.footer(
      R"(Examples:
  attn lesson query.json
  attn lesson --quiet web/lessons
Exit status: 0 nothing is wrong, 1 something is, 2 wrong use.)");
  command.callback([arguments] { lesson(*arguments); });
}

}  // namespace cli
