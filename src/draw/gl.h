// The OpenGL functions that OpenGL ES 3.0 and OpenGL 3.3 core share. The build says where they are declared.
#pragma once

#ifndef GL_GLEXT_PROTOTYPES
#define GL_GLEXT_PROTOTYPES 1
#endif
#include DRAW_GL_HEADER
