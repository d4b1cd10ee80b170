// The mean of a head's attention weights over all passages, as a small picture on the map.

/** Number of tokens on each side of a picture. */
export const PICTURE = 16;

/** `pictures`: (L,H,P,P); `head`: l·H + h. */
export const pictureOf = (pictures: Float32Array, head: number) =>
  pictures.subarray(head * PICTURE * PICTURE, (head + 1) * PICTURE * PICTURE);
