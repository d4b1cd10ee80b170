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
  /** multiplies each channel by its factor, if the model has such factors, and all by residualScale */
  scaled: (name: string | undefined, x: X) => X;
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
    let y = computeSublayers(walk, at, i, list, x);
    for (const { component } of list) y = walk.around(component, i, x, y);
    return y;
  };
  return walk.passRows(at('out'), walk.inside(i, x, inside));
}

function computeSublayers<X>(walk: Walk<X>, at: At, i: number, list: Sublayer[], input: X): X {
  const { normPlace, sharedNorm } = walk.options;
  const isParallel = normPlace === 'parallel';
  let x = input;
  let shared: X | undefined;
  for (const sublayer of list) {
    const stream = isParallel ? walk.narrowed(input) : x;
    const read = sublayer.input ? walk.passRows(at(sublayer.input), stream) : stream;
    let y = read;
    if (isParallel && sharedNorm) {
      // An edited input has a norm of its own.
      const own = shared !== undefined && read === stream ? walk.narrowed(shared) : walk.norm(at(list[0].norm), read);
      y = shared = walk.passRows(at(sublayer.norm), own);
    } else if (normPlace !== 'after') y = normed(walk, at, sublayer, read);
    if (normPlace === 'stream') x = y;
    const output = outputOf(walk, at, i, sublayer, y, stream);
    x = walk.add(walk.narrowed(x), output);
    if (sublayer.sum) x = walk.passRows(at(sublayer.sum), x);
    if (normPlace === 'after') x = normed(walk, at, sublayer, x);
  }
  return x;
}

/** Returns the norm of x, or x if the model has no such norm. */
const normed = <X>(walk: Walk<X>, at: At, { norm }: Sublayer, x: X) => walk.passRows(at(norm), walk.norm(at(norm), x));

/** Returns the output of a sublayer as it is added to the stream: after its norm and its factors, if there are any. */
function outputOf<X>(walk: Walk<X>, at: At, i: number, sublayer: Sublayer, x: X, stream: X) {
  const { component, number, output } = sublayer;
  const own = walk.compute(component, at, i, x, stream);
  const y = number && normsOutputs(walk.options) ? walk.norm(at(`after${number}`), own) : own;
  return walk.passRows(at(output), walk.scaled(number && at(`scale${number}`), y));
}
