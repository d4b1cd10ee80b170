// The ramp from a weight to a colour: straight lines in OKLCH between five stops, at t = w^0.68, so that small weights
// can be distinguished. Lightness only falls (or only rises), so the order of weights is visible in grey and with every
// kind of colour blindness.

import { oklabToRgb } from '../ui/oklab.ts';

import type { Theme } from '../ui/palette.ts';
/** each 0…255 */
export type Rgb = [red: number, green: number, blue: number];

const POWER = 0.68;
const STEPS = 256;
/** Lightness, chroma and hue in OKLCH at t = 0, ¼, ½, ¾, 1. */
const STOPS: Record<Theme, number[][]> = {
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
/** Lightness, chroma and hue of NaN: grey, which no weight has. */
export const UNKNOWN: Record<Theme, number[]> = { light: [0.7, 0, 0], dark: [0.45, 0, 0] };
/** Numbers are dark on a cell whose lightness is above this, otherwise white. */
const INK_ABOVE = 0.62;

/** `lch`: lightness, chroma and hue of OKLCH. */
export const toRgb = ([L, C, h]: number[]): Rgb =>
  oklabToRgb([L, C * Math.cos((h * Math.PI) / 180), C * Math.sin((h * Math.PI) / 180)]) as Rgb;

function between(stops: number[][], t: number) {
  const x = t * (stops.length - 1);
  const i = Math.min(Math.floor(x), stops.length - 2);
  return stops[i].map((from, part) => from + (x - i) * (stops[i + 1][part] - from));
}

/** Returns the position of a weight on the ramp, 0…1. */
export const placeOf = (weight: number) => Math.min(Math.max(weight, 0), 1) ** POWER;
/** Returns the weight at a position on the ramp. */
export const weightAt = (place: number) => place ** (1 / POWER);

function makeRamp(theme: Theme) {
  const steps = Array.from({ length: STEPS }, (_, i) => between(STOPS[theme], i / (STEPS - 1)));
  const lch = [...steps, UNKNOWN[theme]];
  const colours = lch.map(toRgb);
  const pixels = new Uint32Array(Uint8Array.from(colours.flatMap((rgb) => [...rgb, 255])).buffer);
  const index = (weight: number) => (Number.isNaN(weight) ? STEPS : Math.round(placeOf(weight) * (STEPS - 1)));
  return {
    colours: colours.slice(0, STEPS),
    pixel: (weight: number) => pixels[index(weight)],
    css: (weight: number) => `rgb(${colours[index(weight)].join(' ')})`,
    /** Returns true if a number on this colour must be dark. */
    isLight: (weight: number) => lch[index(weight)][0] > INK_ABOVE,
  };
}

export type Ramp = ReturnType<typeof makeRamp>;
export const RAMP: Record<Theme, Ramp> = { light: makeRamp('light'), dark: makeRamp('dark') };

/** Number of decades of the logarithmic scale. Smaller weights have the palest colour. */
const DECADES = 4;

/** Returns a weight's position on the ramp of a scale, 0…1. `how`: one of SCALES; `most`: the head's largest weight. */
function stretchedPlace(how: string, most: number, weight: number) {
  if (Number.isNaN(weight)) return weight;
  if (how === 'log') return weight > 0 ? Math.min(Math.max(1 + Math.log10(weight) / DECADES, 0), 1) : 0;
  return placeOf(how === 'head' && most > 0 ? weight / most : weight);
}

/** `how`: one of SCALES; `most`: the largest weight of the head. */
export function stretched(ramp: Ramp, how: string, most: number): Ramp {
  if (how === 'fixed') return ramp;
  const weightOf = (weight: number) => weightAt(stretchedPlace(how, most, weight));
  return {
    ...ramp,
    pixel: (weight) => ramp.pixel(weightOf(weight)),
    css: (weight) => ramp.css(weightOf(weight)),
    isLight: (weight) => ramp.isLight(weightOf(weight)),
  };
}

/** Returns the legend's marks and positions. `how`: one of SCALES; `most`: the head's largest weight. */
export function marksOf(how: string, most: number): { text: string; place: number }[] {
  const marks =
    how === 'log' ? [1e-4, 0.01, 0.1, 1] : [0, 0.25, 1].map((mark) => (how === 'head' ? mark * most : mark));
  return marks.map((mark) => ({
    text: how === 'head' ? String(Number(mark.toPrecision(2))) : String(mark),
    place: stretchedPlace(how, most, mark),
  }));
}
