// Converts numbers in styles to pixels.

/** Returns a style in which numbers become lengths in pixels. */
export const px = (style: Record<string, string | number | undefined>): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(style).map(([name, value]) => [name, typeof value === 'number' ? `${value}px` : value]),
  );
