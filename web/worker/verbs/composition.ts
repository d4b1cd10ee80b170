// Computes the composition of the chosen head with the heads of all other layers. See composition() in src/js/analysis.

import { composition as compositionOf } from '../../../src/js/analysis/analysis.ts';

import { shownPart } from '../../model/modelEdits.ts';

import type { HeadComposition, HeadPlace } from '../../model/protocol/protocol.ts';
import type { Transformer, TransformerSource } from '../sources/types.ts';
import type { Handler } from '../types.ts';
export type Parameters = Pick<Transformer, 'options' | 'parameters' | 'stateDict'>;

export const composition: Handler<'composition'> = {
  async answer({ state }, reply, worker) {
    const source = await worker.sourceOf(state, reply);
    if (!('model' in source) || !source.exact || shownPart(source.about, state) !== 'decoder') return;
    const { layers, heads } = source.about;
    const [layer, head] = [Math.min(state.layer, layers - 1), Math.min(state.head, heads - 1)];
    for (const compositions of compositionsOf(source, { layer, head })) {
      if (await reply.checkCancelled()) return;
      reply.send('composition', { layer, head, compositions });
    }
  },
};

/** Models with their int8 matrices converted to floats. Otherwise, each pair of heads would need this conversion. */
const floats: WeakMap<Transformer, Parameters> = new WeakMap();
function withFloats(model: Transformer): Parameters {
  const known = floats.get(model);
  if (known) return known;
  let state: ReturnType<Transformer['stateDict']> | undefined;
  const stateDict = () => (state ??= model.stateDict());
  const made = { options: model.options, parameters: model.parameters, stateDict };
  floats.set(model, made);
  return made;
}

/** Yields, after each layer, all compositions that have been computed so far. The nearest layers come first. */
function* compositionsOf({ model, about: { layers, heads } }: TransformerSource, chosen: HeadPlace) {
  const parts = withFloats(model);
  const all: HeadComposition[] = [];
  const others = Array.from({ length: layers }, (_, layer) => layer)
    .filter((layer) => layer !== chosen.layer)
    .sort((a, b) => Math.abs(a - chosen.layer) - Math.abs(b - chosen.layer));
  for (const layer of others) {
    for (let head = 0; head < heads; head++) {
      const other = { layer, head };
      const [from, to] = layer < chosen.layer ? [other, chosen] : [chosen, other];
      const values = compositionOf(parts, from, to);
      for (const kind of ['q', 'k', 'v'] as const) all.push({ from, to, kind, value: values[kind] });
    }
    yield [...all];
  }
}
