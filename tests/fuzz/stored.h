// Required of every reader of tensors: an error is a sentence; a tensor has as many bytes as its shape says,
// can be written, and reads back the same.
#pragma once

#include <string>

#include "files/formats/format.h"
#include "files/layout/match.h"
#include "fuzz.h"

namespace fuzz {

inline std::string written(const files::StoredFile& file, files::Format format) {
  std::string out;
  HOLDS(files::writeFile(file, format, [&](std::string_view piece) { return out += piece, true; }));
  return out;
}

inline void checkSame(const files::Stored& a, const files::Stored& b) {
  HOLDS(a.type == b.type && a.shape == b.shape && a.bytes == b.bytes && a.texts == b.texts);
}

inline int checkReader(const std::uint8_t* data, std::size_t size, files::Format format) {
  files::Result<files::StoredFile> file = files::readStored(text(data, size), format, "t");
  if (!file) return checkSentence(file.error()), 0;
  std::size_t total = 0;
  for (files::Stored& tensor : file->tensors) {
    const auto count = files::checkedCount(tensor.shape);
    HOLDS(count.has_value());
    const bool isText = tensor.type == files::Type::text;
    HOLDS(isText ? tensor.texts.size() == static_cast<std::size_t>(*count)
                 : tensor.bytes.size() == static_cast<std::size_t>(*count) *
                                              static_cast<std::size_t>(files::bytesOf(tensor.type)));
    total += tensor.bytes.size();
    files::Result<files::Stored> plain = files::plain(tensor);
    HOLDS(plain);
    tensor = std::move(*plain);
    const auto array = files::arrayOf(tensor);
    if (!array) checkSentence(array.error());
    else HOLDS(array->values.size() == static_cast<std::size_t>(*count));
  }
  HOLDS(total <= 64u << 20);  // the limit for what so small an input may inflate to
  HOLDS(!files::listing(*file).empty() || file->tensors.empty());
  if (files::checkWritable(*file, format)) {
    const std::string again = written(*file, format);
    const auto back = files::readStored(again, format, "t");
    const bool hasBrain = format != files::Format::safetensors && format != files::Format::json;
    if (back && !hasBrain) {
      HOLDS(back->tensors.size() == file->tensors.size() || format == files::Format::safetensors);
    } else if (!back) {
      checkSentence(back.error());  // two names that are equal when printed, or an empty table
    }
    if (back && format == files::Format::npy && file->tensors[0].type != files::Type::bfloat16 &&
        file->tensors[0].type != files::Type::text) {
      checkSame(back->tensors[0], file->tensors[0]);
    }
  }
  const auto layer = files::tensorsOf(std::move(*file));
  if (!layer) checkSentence(layer.error());
  return 0;
}

}  // namespace fuzz
