// The families of checkpoints, by the model_type in config.json.

import type { Family } from './common.ts';
import * as list from './list.ts';

export const FAMILIES: ReadonlyMap<unknown, Family> = new Map(
  Object.values<Family>(list).flatMap((family) => family.types.map((type) => [type, family] as const)),
);
