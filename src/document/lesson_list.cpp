#include "document/lesson_list.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/sentence.h"
#include "base/sort.h"
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

std::string lessonList(const std::vector<LessonOfFile>& all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  base::sort(order, [&all](std::size_t a, std::size_t b) {
    return std::pair(all[a].lesson.place, a) < std::pair(all[b].lesson.place, b);
  });
  std::string out = "{\"lessons\": [";
  std::string_view separator = "\n";
  for (const std::size_t i : order) {
    const auto& [file, lesson] = all[i];
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
