// Styles in pixels.

/**
 * A style whose plain numbers are pixels.
 * @param {Record<string, string | number | undefined>} style
 * @returns {Record<string, string | undefined>}
 */
export const px = (style) =>
  Object.fromEntries(
    Object.entries(style).map(([name, value]) => [name, typeof value === 'number' ? `${value}px` : value]),
  );
