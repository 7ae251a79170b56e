// The list of lessons, which the Guide shows: made from their files. The page has it from
// src/shell/web/lessons.mjs, which makes the same.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "document/lesson.h"

namespace document {

struct LessonOfFile {
  std::string file;
  Lesson lesson;
};

/// In the order of their places, and of one place as they are given: {"lessons": [{"id", "kind", "title",
/// "file", "steps", "par", "about", "puzzles"}, …]}.
std::string lessonList(const std::vector<LessonOfFile>& all);

/// The same of files with a `name` and a `text`. Those that are no lessons are left out.
template <class Files>
std::string lessonListOf(const Files& files) {
  std::vector<LessonOfFile> all;
  for (const auto& file : files)
    if (auto read = readLessons(file.text))
      for (Lesson& lesson : *read) all.push_back({std::string(file.name), std::move(lesson)});
  return lessonList(all);
}

}  // namespace document
