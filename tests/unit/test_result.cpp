// The result of a function that can fail: true on success, else the field and the sentence separately.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <type_traits>

#include "base/result.h"
#include "base/sentence.h"

namespace {

using base::Error;
using base::Result;

Result<void> checkHeads(int heads) {
  if (heads <= 4) return {};
  return base::refuse(Error::Kind::range, "heads", {heads, " is too large; use 1 to ", 4, "."});
}

Result<std::string> headsText(int heads) {
  if (auto ok = checkHeads(heads); !ok) return ok.error();
  return std::to_string(heads);
}

TEST_CASE("message: its id has what is always said, and its text has the arguments too") {
  const std::string name = "w.npz", marks = "a\x0et\x0f";
  base::Message one{name, " has ", 3, " rows"};
  CHECK(base::MessageView(one).id() == "{} has {} rows");
  CHECK(one == "w.npz has 3 rows");
  one += {" of ", base::message({"head ", 2})};
  CHECK(base::MessageView(one).id() == "{} has {} rows of {}");
  CHECK(one.english() == "w.npz has 3 rows of head 2");
  CHECK(base::message({marks, " is a name"}) == "a?t? is a name");  // marks in what others wrote are none
  CHECK(base::Message(marks) == "a?t?");
  CHECK(base::Message().empty());
  CHECK(base::message({"none", base::Message()}) == base::Message("none"));
  for (const char* broken : {"\x0e", "\x0et", "\x0etno end", "\x0e?what\x0f", "a\x0e\x0e\x0f"})
    CHECK(base::MessageView(broken).english().size() <= std::string_view(broken).size());
  CHECK(base::message({base::either({"1", "2", "4"})}) == "1, 2 or 4");
  CHECK(base::message({base::either({"one"})}) == "one");
}

TEST_CASE("result: with a value or without, it is true when all is well") {
  CHECK(Result<void>());
  CHECK(checkHeads(4));
  CHECK_FALSE(checkHeads(5));
  CHECK(headsText(3));
  CHECK(*headsText(3) == "3");
  CHECK(headsText(3)->size() == 1);
  CHECK_FALSE(headsText(5));
  CHECK(Result<bool>(false));  // true means that there is a value, whatever it is
  CHECK_FALSE(*Result<bool>(false));
  // Neither converts to a number implicitly.
  CHECK_FALSE(std::is_convertible_v<Result<void>, bool>);
  CHECK_FALSE(std::is_convertible_v<Result<std::string>, bool>);
}

TEST_CASE("result: an error has the field and the sentence apart, and its message has both") {
  const auto done = headsText(5);
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == Error::Kind::range);
  CHECK(done.error().field == "heads");
  CHECK(done.error().sentence == "5 is too large; use 1 to 4.");
  CHECK(done.error().message() == "heads: 5 is too large; use 1 to 4.");
  CHECK(Error{Error::Kind::range, "q[0,1,2]", "is NaN; every number must be finite.", true}.message() ==
        "q[0,1,2] is NaN; every number must be finite.");
  CHECK(Error{Error::Kind::range, "", "Cannot read a.json: it is a folder."}.message() ==
        "Cannot read a.json: it is a folder.");
}

TEST_CASE(
    "result: errors can be changed on the way, and values and errors are moved out of results that end") {
  auto done = checkHeads(5);
  done.error().field = "options.heads";
  CHECK(done.error().message() == "options.heads: 5 is too large; use 1 to 4.");
  const Error error = std::move(done).error();
  CHECK(error.field == "options.heads");
  Result<std::unique_ptr<int>> only = std::make_unique<int>(7);
  REQUIRE(only);
  const std::unique_ptr<int> taken = std::move(*only);
  CHECK(*taken == 7);
}

}  // namespace
