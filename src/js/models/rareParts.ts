// Parts for mechanisms that few models have, loaded by loadRareParts.ts if a model needs them, in Node always.

import { HeadlightError } from '../check/errors.ts';

export type RareParts = {
  sound: typeof import('./sound/index.ts');
  disentangled: typeof import('./mixers/disentangled.ts');
  attentionPool: typeof import('./mixers/attentionPool.ts');
  headNorms: typeof import('./mixers/headNorms.ts');
  resizedPositions: typeof import('./positions/resizedPositions.ts');
  shiftedInput: typeof import('./results/shiftedInput.ts');
};

const parts: Partial<RareParts> = {};

export const setRareParts = (loaded: Partial<RareParts>) => void Object.assign(parts, loaded);

export function rarePart<N extends keyof RareParts>(name: N, caller: string): RareParts[N] {
  const part = parts[name];
  if (part) return part as RareParts[N];
  throw new HeadlightError(
    'STATE',
    `${caller}: the part for ${name} is not loaded; first call hl.openModel with a model that needs it`,
    { parameter: name },
  );
}
