// The mean picture of a head on the map.

/** Tokens on each side of a picture. */
export const PICTURE = 16;
/** Pixels of a picture on each side: two for each cell. */
export const SIDE = 32;

/** The picture of a head. @param {Float32Array} pictures (L,H,P,P) @param {number} head l·H + h */
export const pictureOf = (pictures, head) =>
  pictures.subarray(head * PICTURE * PICTURE, (head + 1) * PICTURE * PICTURE);
