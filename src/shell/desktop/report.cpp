#include "shell/desktop/report.h"

#include <sys/utsname.h>

#include "attention/kernels/kernels.h"
#include "base/sentence.h"

namespace shell {

void Report::note(const app::Event& event) {
  constexpr std::size_t kErrors = 20;
  if (event.type != app::Event::Type::error) return;
  errors_.push_back(event.detail);
  if (errors_.size() > kErrors) errors_.pop_front();
}

std::string Report::text(std::string_view state) const {
  utsname system{};
  (void)uname(&system);
  std::string out =
      base::joined({"Attention Playground " AP_VERSION "\nSystem: ", system.sysname, " ", system.release, " ",
                    system.machine, "\nKernel: ", attention::kernels::name(attention::kernels::best())});
  for (const std::string& error : errors_) out += "\nMessage: " + error;
  return base::joined({out, "\nState: ", state});
}

}  // namespace shell
