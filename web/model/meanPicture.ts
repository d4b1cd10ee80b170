// The mean of a head's attention weights over all passages, as a small picture on the map.

/** Number of tokens on each side of a picture. */
export const PICTURE = 16;

/**
 * Returns the picture of a head.
 * @param pictures (L,H,P,P)
 * @param head l·H + h
 */
export const pictureOf = (pictures: Float32Array, head: number) =>
  pictures.subarray(head * PICTURE * PICTURE, (head + 1) * PICTURE * PICTURE);
