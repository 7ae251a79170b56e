#include "document/lesson_list.h"

#include <algorithm>

#include "base/sentence.h"
#include "document/json.h"

namespace document {
namespace {

/// The puzzles of a lesson's subject: those in `next` after the first, which only says what to open then.
std::string puzzlesOf(const Lesson& lesson, const std::vector<LessonOfFile>& all) {
  std::string out;
  for (std::size_t i = 1; lesson.kind == LessonKind::lesson && i < lesson.next.size(); ++i)
    if (std::any_of(all.begin(), all.end(), [&](const LessonOfFile& one) {
          return one.lesson.id == lesson.next[i] && one.lesson.kind == LessonKind::puzzle;
        }))
      out += (out.empty() ? "" : ", ") + jsonQuoted(lesson.next[i]);
  return out;
}

}  // namespace

std::string lessonList(std::vector<LessonOfFile> all) {
  std::stable_sort(all.begin(), all.end(), [](const LessonOfFile& a, const LessonOfFile& b) {
    return a.lesson.place < b.lesson.place;
  });
  std::string out = "{\"lessons\": [";
  std::string_view separator = "\n";
  for (const auto& [file, lesson] : all) {
    out += base::joined({separator, "{\"id\": ", jsonQuoted(lesson.id), ", \"kind\": \"", name(lesson.kind),
                         "\", \"title\": ", jsonQuoted(lesson.title), ", \"file\": ", jsonQuoted(file),
                         ", \"steps\": ", lesson.steps.size()});
    if (lesson.par > 0) out += base::joined({", \"par\": ", lesson.par});
    if (!lesson.about.empty()) out += ", \"about\": " + jsonQuoted(lesson.about);
    if (const std::string puzzles = puzzlesOf(lesson, all); !puzzles.empty())
      out += ", \"puzzles\": [" + puzzles + "]";
    out += "}";
    separator = ",\n";
  }
  return out + "\n]}\n";
}

}  // namespace document
