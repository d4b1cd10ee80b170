// The embedding: from tokens, a picture or audio features to the input (B,T,C) of the first block.

import { shapeError } from '../check/errors.ts';
import { viewOf } from '../memory/tensor.ts';
import { swapAxes } from './axes.ts';
import type { ReadInput } from './input.ts';
import type { Resolved } from './options.ts';
import { sinusoids } from './positions/positions.ts';
import { rarePart } from './rareParts.ts';
import { prependRows, scaleRows, unfoldRows } from './rowOperations.ts';
import type { Run } from './run.ts';

export function embedInput(run: Run) {
  const { input, options, graph, batch, rows } = run;
  let x = input.labels ? embedTokens(run, input.labels) : embedNumbers(run);
  if (options.positions === 'learned') x = graph.add(x, learnedPositions(run));
  if (options.positions === 'sinusoidal')
    x = graph.add(
      x,
      graph.from(x.shape, sinusoids(run.positions, x.shape[2], options.sinusoids, options.positionOffset)),
    );
  if (options.tokenTypes > 0) {
    const types = input.typeIds ?? new Int32Array(batch * rows);
    x = graph.add(x, graph.rows(run.requiredWeight('embedding.type'), types, [batch, rows]));
  }
  x = run.norm('embedding.norm', x);
  return run.passRows('embed', options.embedProject === 'sum' ? run.linear('embedding.project', x) : x);
}

function embedNumbers(run: Run) {
  const { patch, sound } = run.options;
  return patch ? embedPatches(run) : sound ? rarePart('sound', run.caller).embedSound(run) : embedAudio(run);
}

function learnedPositions(run: Run) {
  const { batch, rows } = run;
  const { context, positionOffset, patch } = run.options;
  const resized = patch?.anySize ? patchesOf(run) : undefined;
  if (resized && !(resized[0] === resized[1] && rows === context))
    return rarePart('resizedPositions', run.caller).resizedPositions(run, ...resized);
  const positions = patch ? Int32Array.from({ length: batch * rows }, (_, i) => i % rows) : run.positions;
  if (positions.some((p) => p >= context))
    throw shapeError(run.caller, 'positions', [positions.length], `positions below the context, ${context}`);
  const table = run.requiredWeight('embedding.position');
  return run.graph.rows(
    table,
    positions.map((p) => p + positionOffset),
    [batch, rows],
  );
}

/** Returns how many patches the picture has down and across. */
function patchesOf({ options, input }: Run): [number, number] {
  const { size } = options.patch as NonNullable<Resolved['patch']>;
  const [, , height, width] = (input.numbers as NonNullable<ReadInput['numbers']>).shape;
  return [Math.floor(height / size), Math.floor(width / size)];
}

/** labels: (B,T); returns (B,T,C) */
function embedTokens(run: Run, labels: Int32Array) {
  const { graph, options } = run;
  const table = options.sharedEmbedding ? run.decoderEmbedding : run.requiredWeight('embedding.table');
  const x = graph.rows(table, labels, [run.batch, run.rows]);
  const wide = options.embedProject === 'sum' || options.embedDim === options.dModel;
  const scaled = graph.scale(wide ? x : run.linear('embedding.project', x), options.embedScale);
  return options.tokenDropout ? scaleRows(graph, scaled, keptShares(run, labels, options.tokenDropout)) : scaled;
}

/** Returns the factor (B,T) by which tokenDropout multiplies each embedding. labels: (B,T). */
function keptShares(
  { batch, rows, input }: Run,
  labels: Int32Array,
  { token, share }: NonNullable<Resolved['tokenDropout']>,
) {
  const factors = new Float32Array(batch * rows);
  for (let b = 0; b < batch; b++) {
    const own = labels.subarray(b * rows, (b + 1) * rows);
    const real = input.keep?.subarray(b * rows, (b + 1) * rows).reduce((sum, keep) => sum + keep, 0) ?? rows;
    const dropped = own.reduce((sum, label) => sum + Number(label === token), 0);
    own.forEach((label, t) => {
      factors[b * rows + t] = label === token ? 0 : (1 - share) / (1 - dropped / real);
    });
  }
  return factors;
}

/** Returns (B,N+classTokens,C). A convolution whose stride equals its size is a linear layer over patches. */
function embedPatches(run: Run) {
  const { graph, input, batch } = run;
  const { size, channels } = run.options.patch as NonNullable<Resolved['patch']>;
  const [down, across] = patchesOf(run);
  const { data, shape } = input.numbers as NonNullable<ReadInput['numbers']>;
  const [height, width] = shape.slice(2);
  const patches = graph.make([batch, down * across, channels * size * size]);
  const to = viewOf(patches);
  let at = 0;
  for (let b = 0; b < batch; b++)
    for (let row = 0; row < down; row++)
      for (let column = 0; column < across; column++)
        for (let c = 0; c < channels; c++)
          for (let y = 0; y < size; y++) {
            const from = ((b * channels + c) * height + row * size + y) * width + column * size;
            for (let x = 0; x < size; x++) to[at++] = data[from + x];
          }
  const x = run.linear('embedding.patch', patches);
  const classTokens = run.weight('embedding.class');
  return classTokens ? prependRows(graph, classTokens, x) : x;
}

/** Two convolutions of width 3. The second has stride 2: returns (B,⌈N/2⌉,C). */
function embedAudio(run: Run) {
  const { graph, input, batch } = run;
  const { data, shape } = input.numbers as NonNullable<ReadInput['numbers']>;
  const [, channels, frames] = shape;
  const byFrame = graph.make([batch, frames, channels]);
  swapAxes(viewOf(byFrame), data as Float32Array, batch, channels, frames, 1);
  const first = graph.activation(run.linear('embedding.conv1', unfoldRows(graph, byFrame, 1)), 'gelu');
  return graph.activation(run.linear('embedding.conv2', unfoldRows(graph, first, 2)), 'gelu');
}
