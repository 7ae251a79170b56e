// What systems do each in their own way: posix/system.cpp and windows/system.cpp.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace cli {

/// To be called first: standard input and output pass on every byte as it is.
void startStreams();

/// The number of this process, and whether one with a number has certainly ended.
long ownProcess();
bool hasEnded(long process);

/// May this file be written to? If not, errno says why.
bool mayWrite(const std::filesystem::path& file);

/// Waits until what was written is on the disk; false with errno set if that failed.
bool reachDisk(std::FILE* file);

/// Gives a complete file its name, in the place of another; errno, or 0.
int renameDurably(const std::string& part, const std::filesystem::path& target);

/// The bytes of a regular file, mapped into memory so that only the parts that are used are read; empty where
/// that is not possible. They are there until unmap().
std::string_view mapped(const std::string& path);
void unmap(std::string_view bytes);

}  // namespace cli
