# Run by cpack on what it has installed, before it packs that. All files get one date, that of SOURCE_DATE_EPOCH, so that two builds are the same;
# in the package for Debian there is what its policy asks for beyond cmake --install.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
function(date_all)
  file(GLOB_RECURSE all LIST_DIRECTORIES true "${CPACK_TEMPORARY_DIRECTORY}/*")
  execute_process(COMMAND touch --no-dereference --date "${date}" "${CPACK_TEMPORARY_DIRECTORY}" ${all} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  date_all()
  return()
endif()
set(usr "${CPACK_TEMPORARY_DIRECTORY}/usr")
set(doc "${usr}/share/doc/${CPACK_PACKAGE_NAME}")

# The licence as the copyright file, which names the parts of others; their terms are in NOTICES.txt.
file(READ "${doc}/LICENSE" licence)
string(REGEX MATCH "Copyright [(]c[)] ([^\n]*)" holder "${licence}")
set(holder "${CMAKE_MATCH_1}")
string(REGEX REPLACE "^.*\n(Permission is hereby granted.*)$" "\\1" licence "${licence}")
string(STRIP "${licence}" licence)
string(REPLACE "\n\n" "\n.\n" licence "${licence}")
string(REPLACE "\n" "\n " licence "${licence}")
file(READ "${doc}/NOTICES.txt" notices)
string(REGEX MATCH "\n\n(  [^=]*)\n\n" names "${notices}")
string(STRIP "${CMAKE_MATCH_1}" names)
string(REGEX REPLACE "\n *" "\n  " names "${names}")
string(REGEX REPLACE "\n  \n.*$" "" names "${names}")
file(WRITE "${doc}/copyright" "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Attention Playground
Comment: It contains work of others, whose copyrights and terms are in full in NOTICES.txt.gz:
  ${names}
 The terms of Apache-2.0 are also in /usr/share/common-licenses/Apache-2.0.

Files: *
Copyright: ${holder}
License: MIT
 ${licence}
")
file(REMOVE "${doc}/LICENSE")

file(WRITE "${doc}/changelog" "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=low

  * Version ${CPACK_PACKAGE_VERSION}; see CHANGELOG.md.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(GLOB pages "${usr}/share/man/man1/*.1")
execute_process(COMMAND gzip -9n ${pages} "${doc}/changelog" "${doc}/CHANGELOG.md" "${doc}/NOTICES.txt" COMMAND_ERROR_IS_FATAL ANY)
date_all()
