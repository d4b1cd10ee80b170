// Runs a model, and copies the captured values out of the core's memory. Makes the edits of a run.

import type { Edit } from '../../../src/js/models/edits.ts';
import type { ModelInput } from '../../../src/js/models/input.ts';
import type { ValueName } from '../../../src/js/models/valueName.ts';
import { editsOf, patchedHeads, type Stack, stackAt } from '../../model/forwardEdits.ts';
import type { AttentionPart, PooledHead, Run } from '../../model/protocol/protocol.ts';
import { tokenPlaces } from '../../model/trace/places.ts';
import type { Hl, Numbers, Source, TransformerSource } from '../sources/types.ts';
/**
 * hidden: after the last norm, (1,T,C); pooled: vector of the whole input; pictures: of all heads, if only one layer's
 * weights are kept; outputs, inside: of a long text, see stepRun.ts
 */
export type Values = {
  captured: Record<string, Numbers>;
  logits: Numbers | null;
  hidden: Numbers;
  pooled?: Numbers;
  pictures?: PooledHead[];
  outputs?: Record<string, Numbers>;
  inside?: Record<string, Numbers>;
};

export const copied = (tensor: { copy(): Float32Array; shape: readonly number[] }): Numbers => ({
  data: tensor.copy(),
  shape: [...tensor.shape],
});

export function forward(
  hl: Hl,
  { model }: Pick<TransformerSource, 'model'>,
  input: ModelInput,
  edit: Edit[],
  capture: string[],
): Values {
  return hl.scope(() => {
    const { logits, hidden, pooled, captured } = model.forward(input, {
      edit,
      capture: capture as ValueName[],
    });
    return {
      logits: logits ? copied(logits) : null,
      hidden: copied(hidden),
      ...(pooled && { pooled: copied(pooled) }),
      captured: Object.fromEntries(Object.entries(captured).map(([name, tensor]) => [name, copied(tensor)])),
    };
  });
}

/** Returns a model's attentions with the number of tokens that each reads. `S`: tokens of the encoder. */
export function stacksOf(
  { about, model: { options }, part = 'decoder' }: Pick<TransformerSource, 'about' | 'model' | 'part'>,
  T: number,
  S: number,
): (Stack & { part: AttentionPart; tokens: number })[] {
  const own = { part, ...sizeOf(options), causal: about.causal, tokens: T };
  if (!options.encoder) return [own];
  return [
    { part: 'encoder', ...sizeOf(options.encoder), causal: false, tokens: S },
    own,
    { ...own, part: 'cross', causal: false, keys: S },
  ];
}

const sizeOf = ({ layers, numHeads: heads }: { layers: number; numHeads: number }) => ({ layers, heads });

/** Returns all edits of a run. Patches take values of the pinned run at `partners`, −1 for tokens without one. */
export function allEdits(
  stacks: ReturnType<typeof stacksOf>,
  run: Run,
  pinned: () => Values,
  partners: (part: AttentionPart) => number[],
): Edit[] {
  const edits = stacks.flatMap((stack) => {
    const own = editsOf(run, stack) as Edit[];
    patchHeads(own, stack, run, pinned, partners);
    return own;
  });
  const written = (stacks.find(({ part }) => part === 'decoder') ?? stacks[0]) as (typeof stacks)[number];
  const { layers, tokens } = written;
  for (const { part, layer, place } of tokenPlaces(run.patch)) {
    const from = place < tokens ? partners(written.part)[place] : -1;
    if (layer < layers && from >= 0) edits.unshift(placeEdit(pinned().captured, part, layer, place, from));
  }
  return edits;
}

function patchHeads(
  edits: Edit[],
  { part, tokens: T, ...size }: ReturnType<typeof stacksOf>[number],
  run: Run,
  pinned: () => Values,
  partners: (part: AttentionPart) => number[],
) {
  patchedHeads(run, { part, ...size }).forEach((heads, layer) => {
    if (heads.length === 0) return;
    const at = `${stackAt(part, layer)}heads` as ValueName;
    const { data, shape } = pinned().captured[at];
    const [, , tokens, width] = shape;
    // A pinned run without a text has no values.
    if (tokens === 0) return;
    for (const head of heads) {
      const from = data.subarray(head * tokens * width, (head + 1) * tokens * width);
      if (tokens === T) edits.unshift({ at, head, set: { data: from, shape: [tokens, width] } });
      else
        partners(part).forEach((s, token) => {
          const set = { data: from.subarray(s * width, (s + 1) * width), shape: [width] };
          if (s >= 0) edits.unshift({ at, head, token, set });
        });
    }
  });
}

/** Makes the edit that replaces a layer's residual stream, heads or MLP at a token by that at `from` in another run. */
function placeEdit(captured: Values['captured'], part: string, layer: number, token: number, from: number): Edit {
  // The input of a layer is the output of the layer below.
  const below = layer === 0 ? 'embed' : `blocks.${layer - 1}.out`;
  const { data, shape } = captured[part === 'stream' ? below : `blocks.${layer}.${part}`];
  const [rows, width] = shape.slice(-2);
  const groups = part === 'heads' ? shape[1] : 1;
  const set = new Float32Array(groups * width);
  for (let g = 0; g < groups; g++)
    set.set(data.subarray((g * rows + from) * width, (g * rows + from + 1) * width), g * width);
  const at = `blocks.${layer}.${part === 'stream' ? 'in' : part}` as ValueName;
  return { at, token, set: { data: set, shape: groups > 1 ? [groups, 1, width] : [width] } };
}

/** Returns the names of the values of a run that the page needs, including those inside the heads of one layer. */
export const capturesFor = ({ about }: Pick<Source, 'about'>, part: string, layer: number) => [
  ...['embed', 'blocks.*.heads', 'blocks.*.mlp', 'blocks.*.out'],
  ...(about.parts.includes('cross') ? ['blocks.*.cross.heads', 'encoder.blocks.*.heads'] : []),
  `${stackAt(part, '*')}weights`,
  ...['query', 'key', 'value', 'scores', 'heads'].map((name) => `${stackAt(part, layer)}${name}`),
];
