# What cpack makes of the installation: a package for Debian, and an archive that runs wherever it is unpacked.
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME attention-playground)
set(CPACK_PACKAGE_VENDOR "The Attention Playground authors")
# Who publishes the package gives another: AP_MAINTAINER="Name <mail address>" ./play release.
set(CPACK_PACKAGE_CONTACT "The Attention Playground authors <attention-playground@localhost>")
set(CPACK_PACKAGE_FILE_NAME "attention-playground-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 1)  # compressed alike on every machine

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libgl1")  # which GLFW opens by its name
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "zenity | kdialog")  # for the dialogs of files
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "playground for the attention layer of the Transformer")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Change a number in Q, K or V, flip the causal mask, add a head: scores,
weights, outputs, arcs and the written-out arithmetic follow under the
pointer.
.
The package has the desktop program, with lessons, puzzles and questions,
and attn, which computes, draws, converts and trains attention layers in
files of NumPy, safetensors, CSV and JSON.")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_SOURCE_DIR}/src/shell/desktop/debian.cmake")
include(CPack)
