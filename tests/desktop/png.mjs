// Reading pictures in tests.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {inflateSync} from 'node:zlib';

/** Decodes an 8-bit RGB or RGBA PNG: {width, height, at(x, y)}, where at() gives a colour [r, g, b]. */
export function readPng(path) {
  const bytes = readFileSync(path);
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
  let head, data = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + 8), body = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
    if (type === 'IHDR') head = body;
    if (type === 'IDAT') data.push(body);
  }
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  assert.ok(head[8] === 8 && [2, 6].includes(head[9]), '8 bits, RGB or RGBA');
  const each = head[9] === 2 ? 3 : 4;
  const pixels = unfilter(inflateSync(Buffer.concat(data)), width * each, height, each);
  return {width, height, at(x, y) {
    const i = (y * width + x) * each;
    return [pixels[i], pixels[i + 1], pixels[i + 2]];
  }};
}

function unfilter(raw, stride, height, each) {
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (stride + 1)];
    for (let i = 0; i < stride; ++i) {
      const left = i >= each ? out[y * stride + i - each] : 0, up = y > 0 ? out[(y - 1) * stride + i] : 0;
      const corner = i >= each && y > 0 ? out[(y - 1) * stride + i - each] : 0;
      out[y * stride + i] = raw[y * (stride + 1) + 1 + i] + predicted(filter, left, up, corner);
    }
  }
  return out;
}

function predicted(filter, left, up, corner) {
  switch (filter) {
    case 0: return 0;
    case 1: return left;
    case 2: return up;
    case 3: return (left + up) >> 1;
    default: return paeth(left, up, corner);
  }
}

function paeth(left, up, corner) {
  const p = left + up - corner, a = Math.abs(p - left), b = Math.abs(p - up), c = Math.abs(p - corner);
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
