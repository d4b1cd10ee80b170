// Converts colours from OKLab, and numbers to text.

/** Returns red, green and blue of 0…255. */
export function oklabToRgb([L, a, b]: number[]): number[] {
  const [l, m, s] = [
    L + 0.3963377774 * a + 0.2158037573 * b,
    L - 0.1055613458 * a - 0.0638541728 * b,
    L - 0.0894841775 * a - 1.291485548 * b,
  ].map((x) => x ** 3);
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((x) =>
    Math.round(255 * Math.min(Math.max(x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055, 0), 1)),
  );
}

/** Returns the shortest decimal text that denotes the same float32 number as x. */
export function shortest(x: number) {
  if (!Number.isFinite(x)) return String(x);
  for (let digits = 1; digits < 9; digits++)
    if (Math.fround(Number(x.toPrecision(digits))) === x) return String(Number(x.toPrecision(digits)));
  return String(Number(x.toPrecision(9)));
}
