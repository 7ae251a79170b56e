// The OpenGL functions common to OpenGL ES 3.0 and OpenGL 3.3 core. The build determines the header that
// declares them.
#pragma once

#ifndef GL_GLEXT_PROTOTYPES
#define GL_GLEXT_PROTOTYPES 1
#endif
#include DRAW_GL_HEADER
