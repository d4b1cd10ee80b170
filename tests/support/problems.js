// Makes random shapes and options of attention.

import fc from 'fast-check';
import { numbers } from './kernels.js';

export const array = (shape, seed = 1, range = 2) => ({
  data: numbers(
    shape.reduce((a, b) => a * b, 1),
    seed,
  ).map((x) => x * range),
  shape,
});
export const zeroOne = (shape, seed, share = 0.7) => ({
  data: Uint8Array.from(
    numbers(
      shape.reduce((a, b) => a * b, 1),
      seed,
    ),
    (x) => (x < 2 * share - 1 ? 1 : 0),
  ),
  shape,
});

/**
 * Random sizes, below and above those of the tiles (4 and 6 rows, 8 and 24 columns), and random combinations of all
 * options.
 */
export const sizes = fc.record({
  B: fc.integer({ min: 1, max: 3 }),
  G: fc.integer({ min: 1, max: 3 }),
  group: fc.integer({ min: 1, max: 3 }),
  T: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constantFrom(23, 24, 25, 49)),
  S: fc.oneof(fc.integer({ min: 1, max: 13 }), fc.constantFrom(251, 252, 253, 505)),
  D: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(16, 31)),
  Dv: fc.integer({ min: 1, max: 13 }),
  seed: fc.nat(1e6),
});
export const choices = fc.record({
  scale: fc.option(fc.constantFrom(0.1, 1, -0.5), { nil: undefined }),
  softcap: fc.option(fc.constantFrom(0.5, 3, 30), { nil: undefined }),
  mask: fc.option(fc.constantFrom('S', 'TS', 'HTS', 'BHTS', 'B11S', '1T1'), { nil: undefined }),
  bias: fc.option(fc.constantFrom('S', 'TS', 'HTS', 'BHTS', 'B1TS', 'scalar'), { nil: undefined }),
  keyPadding: fc.boolean(),
  validLens: fc.constantFrom(undefined, 'B', 'BT'),
  causal: fc.boolean(),
  window: fc.option(fc.tuple(fc.integer({ min: -1, max: 5 }), fc.integer({ min: -1, max: 5 })), { nil: undefined }),
  offset: fc.oneof(
    fc.constant(undefined),
    fc.integer({ min: -3, max: 9 }),
    fc.array(fc.integer({ min: -3, max: 9 }), { minLength: 3, maxLength: 3 }),
  ),
  maskFill: fc.constantFrom(undefined, undefined, -1e9, -3),
  dropout: fc.boolean(),
  sinks: fc.boolean(),
  slopes: fc.boolean(),
});

/** Returns the inputs, and the options in the forms of attention() and of the reference. */
export function build({ B, G, group, T, S, D, Dv, seed }, choice) {
  const H = G * group;
  const shapes = {
    S: [S],
    TS: [T, S],
    HTS: [H, T, S],
    BHTS: [B, H, T, S],
    B11S: [B, 1, 1, S],
    B1TS: [B, 1, T, S],
    '1T1': [1, T, 1],
    scalar: [],
  };
  const options = {};
  for (const name of ['scale', 'softcap', 'window', 'offset', 'maskFill'])
    if (choice[name] !== undefined) options[name] = choice[name];
  if (Array.isArray(options.offset)) options.offset = options.offset.slice(0, B);
  if (choice.causal) options.causal = true;
  if (choice.mask) options.mask = zeroOne(shapes[choice.mask], seed + 11);
  if (choice.bias) options.bias = array(shapes[choice.bias], seed + 12);
  if (choice.keyPadding) options.keyPadding = zeroOne([B, S], seed + 13, 0.8);
  const length = (i) => (seed * 7 + i * 5) % (S + 2);
  if (choice.validLens === 'B') options.validLens = Array.from({ length: B }, (_, b) => length(b));
  if (choice.validLens === 'BT')
    options.validLens = Array.from({ length: B }, (_, b) => Array.from({ length: T }, (_, t) => length(b * T + t)));
  if (choice.sinks) options.sinks = array([H], seed + 15);
  const slopes = choice.slopes ? Array.from({ length: H }, (_, h) => 2 ** -(h + 1)) : undefined;
  const keep = choice.dropout ? zeroOne([B, H, T, S], seed + 14, 0.75) : undefined;
  return {
    inputs: [array([B, H, T, D], seed + 1), array([B, G, S, D], seed + 2), array([B, G, S, Dv], seed + 3)],
    options: { ...options, ...(keep && { dropout: { p: 0.25, keep } }), ...(slopes && { alibi: slopes }) },
    plain: { ...options, ...(keep && { keep, p: 0.25 }), ...(slopes && { slopes }) },
  };
}
