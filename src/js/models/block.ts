// The block of every transformer, from input to output. x is (B,T,C). Steps in brackets exist in some models only. The
// words before the colons are values of the option normPlace. sublayers.ts lists the sublayers of a block: a mixer,
// such as attention, attention to an encoder in some models, and a feed-forward.
//
//   for each sublayer:
//     before, both, outputs:  x = x + [after] sublayer([norm] x)
//     after:                  x = norm(x + sublayer(x))
//     stream:                 x = norm(x), x = x + sublayer(x)
//   parallel:                 x = x + mixer(norm1(x)) + feed(norm2(x))
//
//   The outputs of sublayers pass through [the norms after1, after2] and [· scale1, · scale2], a factor for each
//   channel. residualScale multiplies what they add.
//
// The same function runs a block, writes it as ONNX and attributes logits to its parts. These walks differ in what x is
// and in how they compute a step.

import type { At, Component } from './component.ts';
import { normsOutputs, type Resolved } from './options.ts';
import { type Sublayer, sublayersOf } from './sublayers.ts';

/** The steps of a block for one kind of x. Names are full names: `blocks.0.norm1`. */
export type Walk<X> = {
  options: Resolved;
  /** returns x if the model has no such norm */
  norm: (name: string, x: X) => X;
  /** multiplies each channel by its factor; returns x if the model has no such factors */
  scaled: (name: string, x: X) => X;
  times: (x: X, factor: number) => X;
  add: (x: X, y: X) => X;
  /** gives a value its name, under which it may be captured and edited; returns the value to continue with */
  passRows: (name: string, x: X) => X;
  /** returns the rows of x that the rest of the model needs */
  narrowed: (x: X) => X;
  /** computes a mixer or feed */
  compute: (component: Component, at: At, i: number, x: X, stream: X) => X;
  /** computes what a mixer does to the output of the whole block */
  around: (component: Component, i: number, input: X, output: X) => X;
  /** calls a function that computes the block from x */
  inside: (i: number, x: X, compute: () => X) => X;
};

/** For each block, full names by names within the block. */
const fullNames: Map<string, string>[] = [];
/**
 * Returns a function that returns the full name for a name within block i. Each full name is made once, because a new
 * string must be hashed before it is looked up. In a small model, this took a tenth of the time per token.
 */
function inBlock(i: number): At {
  const made = (fullNames[i] ??= new Map());
  return (name) => {
    const fullName = made.get(name) ?? `blocks.${i}.${name}`;
    made.set(name, fullName);
    return fullName;
  };
}

/**
 * @param i index of the block
 * @param input (B,T,C)
 * @returns (B,T,C)
 */
export function block<X>(walk: Walk<X>, i: number, input: X): X {
  const at = inBlock(i);
  const list = sublayersOf(walk.options, i);
  const x = walk.passRows(at('in'), input);
  const inside = () => {
    const y = (walk.options.normPlace === 'parallel' ? inParallel : inSeries)(walk, at, i, list, x);
    return list.reduce((output, { component }) => walk.around(component, i, x, output), y);
  };
  return walk.passRows(at('out'), walk.inside(i, x, inside));
}

/** Computes sublayers one after the other. */
function inSeries<X>(walk: Walk<X>, at: At, i: number, list: Sublayer[], input: X): X {
  const { normPlace } = walk.options;
  let x = input;
  for (const sublayer of list) {
    const stream = x;
    let y = readStream(walk, at, sublayer, x);
    if (normPlace !== 'after') y = normed(walk, at, sublayer, y);
    if (normPlace === 'stream') x = y;
    const output = outputOf(walk, at, i, sublayer, y, stream);
    x = addToStream(walk, at, sublayer, walk.narrowed(x), output);
    if (normPlace === 'after') x = normed(walk, at, sublayer, x);
  }
  return x;
}

/** Computes sublayers that all read the input of the block. */
function inParallel<X>(walk: Walk<X>, at: At, i: number, list: Sublayer[], input: X): X {
  let [x, sum] = [input, input];
  let shared: X | undefined;
  for (const sublayer of list) {
    const y = readStream(walk, at, sublayer, x);
    if (!walk.options.sharedNorm) shared = normed(walk, at, sublayer, y);
    else {
      // An edited input has a norm of its own.
      const own = shared === undefined || y !== x ? walk.norm(at(list[0].norm), y) : walk.narrowed(shared);
      shared = walk.passRows(at(sublayer.norm), own);
    }
    const output = outputOf(walk, at, i, sublayer, shared, y);
    x = walk.narrowed(x);
    sum = addToStream(walk, at, sublayer, sublayer === list[0] ? x : sum, output);
  }
  return sum;
}

const readStream = <X>(walk: Walk<X>, at: At, { input }: Sublayer, x: X) => (input ? walk.passRows(at(input), x) : x);

/** Returns the norm of x, or x if the model has no such norm. */
const normed = <X>(walk: Walk<X>, at: At, { norm }: Sublayer, x: X) => walk.passRows(at(norm), walk.norm(at(norm), x));

const addToStream = <X>(walk: Walk<X>, at: At, { sum }: Sublayer, x: X, output: X) => {
  const y = walk.add(x, output);
  return sum ? walk.passRows(at(sum), y) : y;
};

/** Returns the output of a sublayer as it is added to the stream: after its norm and its factors, if there are any. */
function outputOf<X>(walk: Walk<X>, at: At, i: number, sublayer: Sublayer, x: X, stream: X) {
  const { options } = walk;
  const { component, number, output } = sublayer;
  let y = walk.compute(component, at, i, x, stream);
  if (number) {
    if (normsOutputs(options)) y = walk.norm(at(`after${number}`), y);
    y = walk.scaled(at(`scale${number}`), y);
  }
  return walk.passRows(at(output), walk.times(y, options.residualScale));
}
