// From a weight to a colour: straight lines in OKLCH between five stops, at t = w^0.68, so that small weights can be
// told apart. Lightness only falls (or only rises), so the order holds in grey and for every kind of colour blindness.

/** @import { Theme } from './palette.js' */
/** @typedef {[red: number, green: number, blue: number]} Rgb of 0…255 */

const POWER = 0.68;
const STEPS = 256;
/** L, C, h at t = 0, ¼, ½, ¾, 1. @type {Record<Theme, number[][]>} */
const STOPS = {
  light: [
    [0.958, 0.012, 318],
    [0.865, 0.055, 320],
    [0.67, 0.155, 328],
    [0.45, 0.165, 316],
    [0.25, 0.105, 300],
  ],
  dark: [
    [0.235, 0.014, 300],
    [0.36, 0.095, 304],
    [0.53, 0.165, 316],
    [0.74, 0.14, 328],
    [0.96, 0.035, 335],
  ],
};
/** Above this lightness figures in a cell are ink, below white. */
const INK_ABOVE = 0.62;

/** @param {number[]} lch lightness, chroma and hue of OKLCH @returns {Rgb} */
export function toRgb([L, C, h]) {
  const [a, b] = [C * Math.cos((h * Math.PI) / 180), C * Math.sin((h * Math.PI) / 180)];
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
  return /** @type {Rgb} */ (
    linear.map((x) =>
      Math.round(255 * Math.min(Math.max(x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055, 0), 1)),
    )
  );
}

/** @param {number[][]} stops @param {number} t */
function between(stops, t) {
  const x = t * (stops.length - 1);
  const i = Math.min(Math.floor(x), stops.length - 2);
  return stops[i].map((from, part) => from + (x - i) * (stops[i + 1][part] - from));
}

/** Where a weight stands on the ramp, 0…1. @param {number} weight */
export const placeOf = (weight) => Math.min(Math.max(weight, 0), 1) ** POWER;
/** The weight that stands there. @param {number} place */
export const weightAt = (place) => place ** (1 / POWER);

/** @param {Theme} theme */
function makeRamp(theme) {
  const lch = Array.from({ length: STEPS }, (_, i) => between(STOPS[theme], i / (STEPS - 1)));
  const colours = lch.map(toRgb);
  const pixels = new Uint32Array(Uint8Array.from(colours.flatMap((rgb) => [...rgb, 255])).buffer);
  const index = (/** @type {number} */ weight) => Math.round(placeOf(weight) * (STEPS - 1));
  return {
    colours,
    /** The four bytes of a pixel. @param {number} weight */
    pixel: (weight) => pixels[index(weight)],
    /** @param {number} weight */
    css: (weight) => `rgb(${colours[index(weight)].join(' ')})`,
    /** Whether figures on it are dark. @param {number} weight */
    isLight: (weight) => lch[index(weight)][0] > INK_ABOVE,
  };
}

/** @typedef {ReturnType<typeof makeRamp>} Ramp */
/** @type {Record<Theme, Ramp>} */
export const RAMP = { light: makeRamp('light'), dark: makeRamp('dark') };
