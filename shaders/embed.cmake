# Turns files into C++ constants at build time.
#   text    OUT.h:          inline constexpr char heatmap_frag[] = "…";        from heatmap.frag
#   table   OUT.h:          files[], each with its name and its text;           from query.json …
#   binary  OUT.h, OUT.cpp: extern const std::span<const unsigned char> inter_regular;  from Inter-Regular.otf
# Arguments: FILES (a list), NAMESPACE, KIND, OUT (path without extension).

cmake_minimum_required(VERSION 3.25)

set(header "// Generated from ${NAMESPACE}; do not edit.\n#pragma once\n\n")
set(body "")
if(KIND STREQUAL "binary")
  string(APPEND header "#include <span>\n\n")
endif()
if(KIND STREQUAL "table")
  string(APPEND header "#include <string_view>\n\n")
  string(APPEND header "#pragma GCC diagnostic ignored \"-Woverlength-strings\"  // our compilers take longer ones than all have to\n\n")
endif()
string(APPEND header "namespace ${NAMESPACE} {\n")
if(KIND STREQUAL "table")
  # With its length, or a compiler would count it while it compiles, up to its limit of steps.
  string(APPEND header "using std::literals::string_view_literals::operator\"\"sv;\n")
  string(APPEND header "inline constexpr struct File {\n  std::string_view name, text;\n} files[] = {\n")
endif()

foreach(file IN LISTS FILES)
  if(KIND STREQUAL "text")
    get_filename_component(name "${file}" NAME)
    string(MAKE_C_IDENTIFIER "${name}" name)
    file(READ "${file}" text)
    string(REGEX REPLACE " *//[^\n]*" "" text "${text}")  # comments are only for the source; the page downloads every byte of the shaders
    string(REGEX REPLACE "\n\n+" "\n" text "${text}")
    string(APPEND header "inline constexpr char ${name}[] = R\"glsl(${text})glsl\";\n")
  elseif(KIND STREQUAL "table")
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" text)
    string(APPEND header "{\"${name}\", R\"file(${text})file\"sv},\n")
  else()
    get_filename_component(name "${file}" NAME_WE)
    string(TOLOWER "${name}" name)
    string(MAKE_C_IDENTIFIER "${name}" name)
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    string(APPEND header "extern const std::span<const unsigned char> ${name};\n")
    string(APPEND body "static constexpr unsigned char ${name}_bytes[] = {\n${hex}\n};\n")
    string(APPEND body "const std::span<const unsigned char> ${name}{${name}_bytes};\n\n")
  endif()
endforeach()

if(KIND STREQUAL "table")
  string(APPEND header "};\n")
endif()
file(WRITE "${OUT}.h" "${header}}  // namespace ${NAMESPACE}\n")
if(KIND STREQUAL "binary")
  get_filename_component(stem "${OUT}" NAME)
  file(WRITE "${OUT}.cpp" "#include \"${stem}.h\"\n\nnamespace ${NAMESPACE} {\n${body}}  // namespace ${NAMESPACE}\n")
endif()
