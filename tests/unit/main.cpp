// The unit tests: one program, which runs natively, under the sanitizers, and as WebAssembly under Node.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
