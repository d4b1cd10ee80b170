// Writes pictures as PNG files.

import { deflateSync } from 'node:zlib';
import { crc32 } from './files.js';

/**
 * @param {number} side width and height
 * @param {(x: number, y: number) => number[]} colourAt red, green and blue, each from 0 to 255
 */
export function writePng(side, colourAt) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [size, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, check]);
  };
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  const row = (y) => Buffer.from([0, ...Array.from({ length: side }, (_, x) => colourAt(x, y)).flat()]);
  const pixels = Buffer.concat(Array.from({ length: side }, (_, y) => row(y)));
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const chunks = [chunk('IHDR', head), chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}
