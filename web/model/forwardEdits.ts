// Converts the changes to a model into the list of edits that forward takes.

import { visible } from './hiddenCells.ts';
import { effective, layerPlace } from './modelEdits.ts';
import type { AttentionPart } from './protocol/protocol.ts';
import type { Run } from './state.ts';
/** One attention of a model: its size, and the numbers of its queries (tokens) and keys. keys is tokens by default. */
export type Stack = {
  part?: AttentionPart;
  layers: number;
  heads: number;
  causal?: boolean;
  tokens?: number;
  keys?: number;
};

const STACKS: Record<string, string> = {
  ...{ encoder: 'encoder.blocks.L.', decoder: 'blocks.L.', cross: 'blocks.L.cross.' },
  ...{ text: 'blocks.L.', vision: 'blocks.L.' },
};
export const stackAt = (part: string, layer: number | string) => STACKS[part].replace('L', String(layer));

/** Groups a layer's heads by their value, without those with the default, `usual`. `layer`: its place. */
function groups<T>(map: Record<string, T>, layer: string, heads: number, usual: T): [value: T, heads: number[]][] {
  const found = new Map();
  for (let head = 0; head < heads; head++) {
    const value = effective(map, layer, head, usual);
    if (value !== usual) found.set(value, [...(found.get(value) ?? []), head]);
  }
  return [...found];
}

const maskEdit = (mask: string, causal: boolean): object =>
  mask === 'none'
    ? { mask: 'none' }
    : { window: mask === 'past' ? [-1, 0] : [Number(mask), causal ? 0 : Number(mask)] };

/**
 * Returns an edit per group of heads with the same mask: the chosen mask and the cells masked by hand. `at`: name of
 * the scores; `place`: of the layer.
 */
function paintedEdits(
  { painted = {}, mask }: Run,
  at: string,
  place: string,
  { heads, causal = true, tokens = 0, keys = tokens }: Stack,
) {
  return groups(painted, place, heads, '').flatMap(([text, list]) => {
    const masks = list.map((head) => effective(mask, place, head, 'causal'));
    return [...new Set(masks)].map((name) => ({
      at,
      head: list.filter((_, i) => masks[i] === name),
      mask: visible(text, name, tokens, causal, keys),
    }));
  });
}

/** Returns the edits of one attention in a run. Patches are missing, because they need the values of another run. */
export function editsOf(run: Run, stack: Stack) {
  const { part = 'decoder', layers, heads, causal = true } = stack;
  const { temperature, mask, scale, off: set = 'zero' } = run;
  const edits: object[] = [];
  for (let layer = 0; layer < layers; layer++) {
    const place = layerPlace(part, layer);
    const [scores, outputs] = ['scores', 'heads'].map((name) => stackAt(part, layer) + name);
    for (const [value, head] of groups(mask, place, heads, 'causal'))
      edits.push({ at: scores, head, ...maskEdit(value, causal) });
    edits.push(...paintedEdits(run, scores, place, stack));
    for (const [value, head] of groups(temperature, place, heads, 1))
      edits.push({ at: scores, head, temperature: value });
    for (const [value, head] of groups(scale, place, heads, 1))
      edits.push({ at: outputs, head, ...(value === 0 ? { set } : { scale: value }) });
  }
  return edits;
}

/** Returns the heads of each layer whose output is patched with that of the pinned run. */
export function patchedHeads({ patch }: Run, { part = 'decoder', layers, heads }: Stack) {
  return Array.from({ length: layers }, (_, layer) =>
    groups(patch, layerPlace(part, layer), heads, 0).flatMap(([, list]) => list),
  );
}
