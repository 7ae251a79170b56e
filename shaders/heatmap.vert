// A rectangle that covers all cells of a matrix. The fragment shader determines the cell of each pixel.
precision highp float;

uniform vec4 place;   // top left corner of the matrix in framebuffer pixels, and the size of the framebuffer
uniform vec2 extent;  // width and height of the matrix in framebuffer pixels

void main() {
  vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
  vec2 pixel = place.xy + corner * extent;
  vec2 unit = pixel / place.zw;
  gl_Position = vec4(unit.x * 2.0 - 1.0, 1.0 - unit.y * 2.0, 0.0, 1.0);
}
