#include "cli/system.h"

#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cstdint>

#include "cli/memory.h"

namespace cli {

void startStreams() {
  for (std::FILE* stream : {stdin, stdout}) _setmode(_fileno(stream), _O_BINARY);
  SetConsoleOutputCP(CP_UTF8);
}

long ownProcess() { return static_cast<long>(GetCurrentProcessId()); }
bool hasEnded(long process) {
  const HANDLE handle = OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(process));
  if (handle == nullptr) return GetLastError() == ERROR_INVALID_PARAMETER;  // there is none
  const bool ended = WaitForSingleObject(handle, 0) == WAIT_OBJECT_0;
  CloseHandle(handle);
  return ended;
}

bool mayWrite(const std::filesystem::path& file) { return _waccess(file.c_str(), 2) == 0; }

bool reachDisk(std::FILE* file) { return _commit(_fileno(file)) == 0; }

int renameDurably(const std::string& part, const std::filesystem::path& target) {
  std::error_code error;  // rename() of C replaces nothing here
  std::filesystem::rename(part, target, error);
  return error ? error.default_error_condition().value() : 0;
}

// A mapped file cannot be replaced here, not even by its own program, so files are read.
std::string_view mapped(const std::string&) { return {}; }
void unmap(std::string_view) {}

std::int64_t freeMemory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (!GlobalMemoryStatusEx(&status)) return 0;
  const auto free = static_cast<std::int64_t>(std::min(status.ullAvailPhys, status.ullAvailVirtual));
  return free - free / 10;
}

}  // namespace cli
