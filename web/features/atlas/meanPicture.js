// The mean of a head's attention weights over all passages, as a small picture on the map.

/** Number of tokens on each side of a picture. */
export const PICTURE = 16;

/** Returns the picture of a head. @param {Float32Array} pictures (L,H,P,P) @param {number} head l·H + h */
export const pictureOf = (pictures, head) =>
  pictures.subarray(head * PICTURE * PICTURE, (head + 1) * PICTURE * PICTURE);
