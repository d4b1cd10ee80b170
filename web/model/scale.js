// From a number to a colour. The legend is drawn from the same object as the cells.

/** @import { Rgb, Scale, ScaleKind, Theme } from './types.js' */

/** Straight lines in OKLab between stops of evenly spaced lightness: equal steps look equal, in grey too. */
const STOPS = {
  light: [
    [0.985, 0.012, 95],
    [0.67, 0.135, 68],
    [0.355, 0.1, 45],
  ],
  dark: [
    [0.225, 0.012, 75],
    [0.585, 0.125, 68],
    [0.945, 0.115, 98],
  ],
};

/** @param {number[]} lab @returns {Rgb} */
export function oklabToRgb([L, a, b]) {
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

/** What is NaN or infinite: a colour that no scale has. */
export const NOT_FINITE_COLOUR = { light: [200, 0, 140], dark: [255, 80, 200] };

/** @param {Rgb[]} colours */
const pixelsOf = (colours) => new Uint32Array(Uint8Array.from(colours.flatMap((rgb) => [...rgb, 255])).buffer);

/** Colours, and the same as the four bytes of a pixel each. @param {Rgb[]} colours @param {Theme} theme */
const withPixels = (colours, theme) => ({
  colours,
  pixels: pixelsOf(colours),
  notFinite: { colour: NOT_FINITE_COLOUR[theme], pixel: pixelsOf([NOT_FINITE_COLOUR[theme]])[0] },
});

/**
 * What is worked out once for each argument.
 * @template T
 * @param {(theme: Theme) => T} make
 * @returns {(theme: Theme) => T}
 */
function once(make) {
  const made = new Map();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key);
  };
}

/** 256 colours of a theme, and the same as pixels. */
const table = once((theme) => {
  const lab = STOPS[theme].map(([L, c, h]) => [
    L,
    c * Math.cos((h * Math.PI) / 180),
    c * Math.sin((h * Math.PI) / 180),
  ]);
  return withPixels(
    Array.from({ length: 256 }, (_, i) => {
      const x = (i / 255) * (lab.length - 1);
      const from = Math.min(Math.floor(x), lab.length - 2);
      return oklabToRgb(lab[from].map((value, axis) => value + (lab[from + 1][axis] - value) * (x - from)));
    }),
    theme,
  );
});

/** From a share of the domain to a share of the colours, and back. The logarithm spans four decades. */
const DECADES = 4;
/** @type {Record<'linear' | 'sqrt' | 'log', { to: (x: number) => number, from: (y: number) => number }>} */
const CURVES = {
  linear: { to: (x) => x, from: (y) => y },
  sqrt: { to: Math.sqrt, from: (y) => y * y },
  log: { to: (x) => Math.max(0, 1 + Math.log10(x) / DECADES), from: (y) => (y === 0 ? 0 : 10 ** (DECADES * (y - 1))) },
};

/**
 * @param {Theme} theme
 * @param {number} most the weight that is brightest
 * @param {ScaleKind} [kind] 'row': linear, the caller divides each row by its largest
 * @returns {Scale}
 */
export function makeScale(theme, most, kind = 'linear') {
  const { colours, pixels, notFinite } = table(theme);
  const perRow = kind === 'row';
  const { to, from } = CURVES[kind === 'row' ? 'linear' : kind];
  /** @type {[number, number]} */
  const domain = [0, perRow || !(most > 0) ? 1 : most];
  const unit = 1 / domain[1];
  const index = (/** @type {number} */ weight) => {
    const share = weight * unit;
    return share >= 1 ? 255 : share > 0 ? (255 * to(share) + 0.5) | 0 : 0;
  };
  return {
    /** The same for scales that are the same. */
    key: `${theme} ${kind} ${most}`,
    domain,
    perRow,
    pixels,
    notFinite,
    /** Which of the 256 colours a weight has. */
    index,
    /** [r, g, b] of a weight */
    colour: (weight) => (Number.isFinite(weight) ? colours[index(weight)] : notFinite.colour),
    /** The weight at a share of the legend's length. */
    valueAt: (share) => from(share) * domain[1],
    ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => ({ share, value: from(share) * domain[1] })),
  };
}

/** Numbers with a sign, centred on 0: blue-green below, brown above, told apart in any kind of colour vision. */
const POLES = {
  light: [
    [0.43, 0.09, 215],
    [0.975, 0.006, 95],
    [0.45, 0.11, 50],
  ],
  dark: [
    [0.78, 0.1, 205],
    [0.24, 0.008, 80],
    [0.8, 0.12, 60],
  ],
};

/** 255 colours of a theme. */
const signedTable = once((theme) => {
  const lab = POLES[theme].map(([L, c, h]) => [
    L,
    c * Math.cos((h * Math.PI) / 180),
    c * Math.sin((h * Math.PI) / 180),
  ]);
  return withPixels(
    Array.from({ length: 255 }, (_, i) => {
      const x = (i - 127) / 127;
      const pole = x < 0 ? lab[0] : lab[2];
      return oklabToRgb(lab[1].map((middle, axis) => middle + (pole[axis] - middle) * Math.abs(x)));
    }),
    theme,
  );
});

/** @param {Theme} theme @param {number} most the largest magnitude @returns {Scale} */
export function makeSignedScale(theme, most) {
  const { colours, pixels, notFinite } = signedTable(theme);
  const limit = most > 0 ? most : 1;
  const index = (/** @type {number} */ value) => 127 + Math.round(127 * Math.min(Math.max(value / limit, -1), 1));
  return {
    key: `${theme} signed ${limit}`,
    domain: [-limit, limit],
    perRow: false,
    pixels,
    notFinite,
    index,
    colour: (value) => (Number.isFinite(value) ? colours[index(value)] : notFinite.colour),
    valueAt: (share) => (2 * share - 1) * limit,
    ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => ({ share, value: (2 * share - 1) * limit })),
  };
}

/** Weights to three digits that count. @param {number} weight */
export function formatWeight(weight) {
  if (weight === 0 || weight === 1) return String(weight);
  if (weight < 0.0001) return weight.toExponential(1);
  return weight.toFixed(weight < 0.01 ? 4 : 3);
}

/** A number as text, with a real minus. @param {string} text */
export const withMinus = (text) => text.replace(/^-/, '−');

/** Any number to four digits that count, without idle zeros. @param {number} x */
export function formatNumber(x) {
  if (!Number.isFinite(x)) return withMinus(String(x).replace('Infinity', '∞'));
  const size = Math.abs(x);
  return withMinus(size !== 0 && (size < 1e-6 || size >= 1e6) ? x.toExponential(2) : String(Number(x.toPrecision(4))));
}

/** The shortest decimal that reads back as the same float32. @param {number} x */
export function shortest(x) {
  if (!Number.isFinite(x)) return String(x);
  for (let digits = 1; digits < 9; digits++)
    if (Math.fround(Number(x.toPrecision(digits))) === x) return String(Number(x.toPrecision(digits)));
  return String(Number(x.toPrecision(9)));
}
