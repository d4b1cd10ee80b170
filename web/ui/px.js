// Converts numbers in styles to pixels.

/**
 * Returns a style in which numbers become lengths in pixels.
 * @param {Record<string, string | number | undefined>} style
 * @returns {Record<string, string | undefined>}
 */
export const px = (style) =>
  Object.fromEntries(
    Object.entries(style).map(([name, value]) => [name, typeof value === 'number' ? `${value}px` : value]),
  );
