// A matrix as coloured cells. All lengths are in framebuffer pixels; y goes down. With ONE_PIXEL every cell is one pixel, without gap or
// corner, and `scale` is 0 or 1.
precision highp float;
precision highp sampler2D;

uniform sampler2D cells;   // one float per cell; values below kMasked stand for -infinity
uniform vec4 place;        // top left of the matrix; size of the framebuffer
uniform ivec2 shape;       // columns and rows as shown
uniform bool transposed;   // (column, row) on the screen is stored at (row, column)
uniform vec4 metrics;      // pitch, gap, corner radius, framebuffer pixels per logical pixel
uniform sampler2D peaks;   // the largest magnitude in each row, for scale 2
uniform vec2 range;        // value at the low end of the map, and 1 / (high - low)
uniform int scale;         // 0: linear, 1: square root, 2: relative to the largest in the row, 4: fourth root
uniform vec4 stops[9];     // the colour map
uniform vec4 masked;       // border of masked cells
uniform vec4 masked_fill;
uniform float opacity;

out vec4 color;

const float kMasked = -3.0e38;

float value_at(ivec2 cell) {
  return texelFetch(cells, transposed ? cell.yx : cell, 0).r;
}

// Must match draw::fraction() and draw::at(), which determine the colour of text.
float fraction(ivec2 cell) {
  float value = value_at(cell);
  float t = (value - range.x) * range.y;
  if (scale == 0) return t;
  float zero = -range.x * range.y, side = 1.0 - zero;
  float size = sqrt(abs(t - zero) / side);
  if (scale == 4) size = sqrt(size);
#ifndef ONE_PIXEL
  if (scale == 2) size = abs(value) / max(texelFetch(peaks, ivec2(0, transposed ? cell.x : cell.y), 0).r, 1e-30);
#endif
  return zero + (value < 0.0 ? -size : size) * side;
}

vec4 map_color(float t) {
  float s = t > 0.0 ? min(t, 1.0) * 8.0 : 0.0;
  int i = min(int(s), 7);
  return mix(stops[i], stops[i + 1], s - float(i));
}

vec4 over(vec4 top, float coverage, vec4 below) {
  float a = top.a * coverage;
  float out_a = a + below.a * (1.0 - a);
  vec3 rgb = out_a > 0.0 ? (top.rgb * a + below.rgb * below.a * (1.0 - a)) / out_a : vec3(0.0);
  return vec4(rgb, out_a);
}

// Small masked cells, and those that are not even a pixel: one picture at every size.
float hatching(vec2 pixel) {
  float period = 5.0 * metrics.w;
  return clamp(abs(mod(pixel.x + pixel.y, period) - 0.5 * period) - 0.5 * period + 1.5 * metrics.w, 0.0, 1.0);
}

vec4 hatched(vec2 pixel) { return over(masked, 0.6 * hatching(pixel), masked_fill); }

#ifdef ONE_PIXEL

vec4 one_cell(vec2 pixel) {
  ivec2 cell = clamp(ivec2(pixel), ivec2(0), shape - 1);
  return value_at(cell) < kMasked ? hatched(pixel) : map_color(fraction(cell));
}

#else

// Cells start at whole pixels, so that edges are sharp at any pixel ratio; with a fractional pitch, the sizes of cells differ by one pixel.
vec2 cell_start(vec2 cell) { return floor(cell * metrics.x + 0.5); }

vec2 cell_of(vec2 pixel) {
  vec2 cell = floor(pixel / metrics.x);
  cell -= vec2(lessThan(pixel, cell_start(cell)));
  cell += vec2(greaterThanEqual(pixel, cell_start(cell + 1.0)));
  return clamp(cell, vec2(0.0), vec2(shape - 1));
}

// Signed distance to a rounded rectangle centred at 0, negative inside.
float rounded_box(vec2 p, vec2 half_size, float radius) {
  vec2 q = abs(p) - half_size + radius;
  return min(max(q.x, q.y), 0.0) + length(max(q, 0.0)) - radius;
}

// Dashes along the nearest side, placed so that both ends of a side are in the middle of a dash.
float dashes(vec2 p, vec2 half_size) {
  vec2 q = abs(p) - half_size;
  float along = q.x > q.y ? p.y + half_size.y : p.x + half_size.x;
  float side = 2.0 * (q.x > q.y ? half_size.y : half_size.x);
  float period = side / max(1.0, floor(side / (5.0 * metrics.w) + 0.5));
  float from_middle = abs(fract(along / period) - 0.5) * period;
  return clamp(from_middle - 0.22 * period + 0.5, 0.0, 1.0);
}

vec4 masked_color(vec2 pixel, vec2 p, vec2 half_size, float d) {
  if (min(half_size.x, half_size.y) < 6.0 * metrics.w) return hatched(pixel);
  float stroke = max(1.0, floor(metrics.w + 0.5));
  float line = clamp(0.5 - abs(d + 0.5 * stroke) + 0.5 * stroke, 0.0, 1.0);
  return over(masked, line * dashes(p, half_size), masked_fill);
}

vec4 one_cell(vec2 pixel) {
  vec2 cell = cell_of(pixel);
  vec2 low = cell_start(cell) + floor(0.5 * metrics.y);
  vec2 half_size = 0.5 * (cell_start(cell + 1.0) - cell_start(cell) - metrics.y);
  vec2 p = pixel - low - half_size;
  float d = rounded_box(p, half_size, min(metrics.z, min(half_size.x, half_size.y)));
  float value = value_at(ivec2(cell));
  vec4 fill = value < kMasked ? masked_color(pixel, p, half_size, d) : map_color(fraction(ivec2(cell)));
  fill.a *= clamp(0.5 - d, 0.0, 1.0);
  return fill;
}

#endif

void main() {
  vec2 pixel = vec2(gl_FragCoord.x, place.w - gl_FragCoord.y) - place.xy;
  color = one_cell(pixel);
  color.a *= opacity;
}
