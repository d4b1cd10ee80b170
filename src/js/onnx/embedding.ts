// Builds the input of the first block, (B,T,C): embeddings of tokens, image patches or audio frames.

import type { Resolved } from '../models/options.ts';
import { sinusoids } from '../models/positions/positions.ts';
import { activate, times, type Value } from './operators.ts';
import { embedSound } from './sound.ts';
import type { Stack } from './stack.ts';

export function embed(stack: Stack): Value {
  const { graph, options, inputs } = stack;
  const { positions, positionOffset, patch, tokenTypes, context } = options;
  const add = (a: Value, b: Value) => graph.op('Add', [a, b]);
  const rows = (table: Value, which: Value) => graph.op('Gather', [table, which], { axis: 0 });
  let x = inputs.ids ? embedTokens(stack) : embedNumbers(stack);
  if (positions === 'learned') {
    const indices = patch ? graph.range(stack.rows) : stack.positions;
    const shifted = positionOffset > 0 ? add(indices, graph.int(positionOffset)) : indices;
    x = add(x, rows(stack.needed('embedding.position'), shifted));
  }
  if (positions === 'sinusoidal') {
    // The position of the padding token is −1, which selects the last row.
    const count = context + Number(options.padToken !== undefined);
    const all = Int32Array.from({ length: count }, (_, i) => (i < context ? i : -1));
    const width = options.embedProject === 'sum' ? options.embedDim : options.dModel;
    const waves = sinusoids(all, width, options.sinusoids, positionOffset);
    const table = graph.weight(`${stack.prefix}embedding.sinusoids`, waves, [count, width]);
    x = add(x, rows(table, stack.positions));
  }
  if (tokenTypes > 0) x = add(x, rows(stack.needed('embedding.type'), inputs.typeIds ?? graph.ints(0)));
  x = stack.norm('embedding.norm', x);
  return stack.passRows('embed', options.embedProject === 'sum' ? stack.linear('embedding.project', x) : x);
}

function embedNumbers(stack: Stack) {
  const { patch, sound } = stack.options;
  return patch ? embedPatches(stack) : sound ? embedSound(stack) : embedAudio(stack);
}

function embedTokens(stack: Stack) {
  const { graph, options, inputs } = stack;
  const table = options.sharedEmbedding ? stack.sharedTable : stack.needed('embedding.table');
  const x = graph.op('Gather', [table, inputs.ids as Value], { axis: 0 });
  const wide = options.embedProject === 'sum' || options.embedDim === options.dModel;
  const scaled = times(graph, wide ? x : stack.linear('embedding.project', x), options.embedScale);
  return options.tokenDropout ? dropTokens(stack, scaled, options.tokenDropout) : scaled;
}

/**
 * Multiplies the rows by the factors of the option tokenDropout.
 * @param x (B,T,C)
 */
function dropTokens({ graph, rows, inputs }: Stack, x: Value, { token, share }: NonNullable<Resolved['tokenDropout']>) {
  const ids = inputs.ids as Value;
  const dropped = graph.op('Equal', [ids, graph.int(token)]); // (B,T)
  const count = (flags: Value) => graph.reduce('ReduceSum', graph.cast(flags, 'float'), [1]); // (B,1)
  const real = inputs.keep ? count(inputs.keep) : graph.cast(rows, 'float');
  const left = graph.op('Sub', [graph.float(1), graph.op('Div', [count(dropped), real])]);
  const factor = graph.op('Div', [graph.float(1 - share), left]);
  const factors = graph.op('Where', [dropped, graph.float(0), factor]);
  return graph.op('Mul', [x, graph.op('Unsqueeze', [factors, graph.ints(2)])]);
}

/** Embeds image patches by a convolution whose stride is the kernel size, and prepends the class tokens. */
function embedPatches(stack: Stack) {
  const { graph, options, inputs } = stack;
  const { size, channels, classTokens } = options.patch as NonNullable<Resolved['patch']>;
  const kernel = graph.reshape(stack.needed('embedding.patch.weight'), options.dModel, channels, size, size);
  const bias = stack.weight('embedding.patch.bias');
  const given = [inputs.pixels as Value, kernel, ...(bias ? [bias] : [])];
  const grid = graph.op('Conv', given, { kernel_shape: [size, size], strides: [size, size] });
  const flat = graph.reshape(grid, 0, options.dModel, -1);
  const x = graph.op('Transpose', [flat], { perm: [0, 2, 1] });
  const first = stack.weight('embedding.class');
  if (!first) return x;
  const form = graph.op('Concat', [stack.batch, graph.ints(classTokens, options.dModel)], { axis: 0 });
  return graph.op('Concat', [graph.op('Expand', [first, form]), x], { axis: 1 });
}

/** Embeds audio features by two convolutions over three frames, with strides 1 and 2. */
function embedAudio(stack: Stack) {
  const { graph, options, inputs } = stack;
  const convolve = (name: string, x: Value, channels: number, stride: number) => {
    // The weight is (out, 3·channels), but Conv requires (out, channels, 3).
    const frames = graph.reshape(stack.needed(`${name}.weight`), options.dModel, 3, channels);
    const kernel = graph.op('Transpose', [frames], { perm: [0, 2, 1] });
    const how = { kernel_shape: [3], pads: [1, 1], strides: [stride] };
    return activate(graph, graph.op('Conv', [x, kernel, stack.needed(`${name}.bias`)], how), 'gelu');
  };
  const first = convolve('embedding.conv1', inputs.features as Value, options.channels, 1);
  const second = convolve('embedding.conv2', first, options.dModel, 2);
  return graph.op('Transpose', [second], { perm: [0, 2, 1] });
}
