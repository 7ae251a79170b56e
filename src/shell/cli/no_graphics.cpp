// `attn` needs neither a display nor a graphics library: the board is converted back from its draw lists
// before anything would be drawn. These are stubs of the OpenGL functions that the drawing code refers to.
#include "draw/gl.h"

extern "C" {

void APIENTRY glActiveTexture(GLenum) {}
void APIENTRY glAttachShader(GLuint, GLuint) {}
void APIENTRY glBindTexture(GLenum, GLuint) {}
void APIENTRY glBindVertexArray(GLuint) {}
void APIENTRY glClear(GLbitfield) {}
void APIENTRY glClearColor(GLfloat, GLfloat, GLfloat, GLfloat) {}
void APIENTRY glCompileShader(GLuint) {}
GLuint APIENTRY glCreateProgram() { return 0; }
GLuint APIENTRY glCreateShader(GLenum) { return 0; }
void APIENTRY glDeleteProgram(GLuint) {}
void APIENTRY glDeleteShader(GLuint) {}
void APIENTRY glDeleteTextures(GLsizei, const GLuint*) {}
void APIENTRY glDeleteVertexArrays(GLsizei, const GLuint*) {}
void APIENTRY glDisable(GLenum) {}
void APIENTRY glDrawArrays(GLenum, GLint, GLsizei) {}
void APIENTRY glGenTextures(GLsizei, GLuint*) {}
void APIENTRY glGenVertexArrays(GLsizei, GLuint*) {}
GLint APIENTRY glGetUniformLocation(GLuint, const GLchar*) { return 0; }
void APIENTRY glLinkProgram(GLuint) {}
void APIENTRY glPixelStorei(GLenum, GLint) {}
void APIENTRY glScissor(GLint, GLint, GLsizei, GLsizei) {}
void APIENTRY glShaderSource(GLuint, GLsizei, const GLchar* const*, const GLint*) {}
void APIENTRY glTexImage2D(GLenum, GLint, GLint, GLsizei, GLsizei, GLint, GLenum, GLenum, const void*) {}
void APIENTRY glTexParameteri(GLenum, GLenum, GLint) {}
void APIENTRY glTexSubImage2D(GLenum, GLint, GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, const void*) {}
void APIENTRY glUniform1f(GLint, GLfloat) {}
void APIENTRY glUniform1i(GLint, GLint) {}
void APIENTRY glUniform2f(GLint, GLfloat, GLfloat) {}
void APIENTRY glUniform2i(GLint, GLint, GLint) {}
void APIENTRY glUniform4f(GLint, GLfloat, GLfloat, GLfloat, GLfloat) {}
void APIENTRY glUniform4fv(GLint, GLsizei, const GLfloat*) {}
void APIENTRY glUseProgram(GLuint) {}
void APIENTRY glViewport(GLint, GLint, GLsizei, GLsizei) {}
void APIENTRY glGetShaderiv(GLuint, GLenum, GLint*) {}
void APIENTRY glGetProgramiv(GLuint, GLenum, GLint*) {}
void APIENTRY glGetShaderInfoLog(GLuint, GLsizei, GLsizei*, GLchar*) {}
void APIENTRY glGetProgramInfoLog(GLuint, GLsizei, GLsizei*, GLchar*) {}

}  // extern "C"
