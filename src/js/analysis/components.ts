// The attribution of the components of a block: how their outputs are split into parts of the residual stream.

import type { At, ComponentName } from '../models/component.ts';
import { mlpAttribution } from '../models/feeds/mlp.attribution.ts';
import { attentionAttribution } from '../models/mixers/attention.attribution.ts';
import { crossAttentionAttribution } from '../models/mixers/crossAttention.attribution.ts';
import type { Read } from './arrays.ts';
import type { Kind, Stream } from './stream.ts';

/** Inputs with which a component splits its output at one token. */
export type Reader = {
  token: number;
  batch: number;
  /** reads a captured value; form: its axes, such as 'BHTD' */
  captured: (name: string, form: string) => Read;
  vector: (name: string) => Float32Array | undefined;
  matrix: (name: string) => { data: Float32Array; shape: readonly number[] };
};
export type ComponentAttribution = {
  kind: Kind;
  /** name within the block of the captured value from which the parts are computed */
  value: string;
  /**
   * Returns the parts of the output, before its norm and factors. Without this function, the captured value is the
   * output after its norm and factors, and it is one part.
   */
  split?: (read: Reader, at: At, i: number) => Stream;
};

export const ATTRIBUTIONS: Record<ComponentName, ComponentAttribution> = {
  attention: attentionAttribution,
  crossAttention: crossAttentionAttribution,
  disentangledAttention: attentionAttribution,
  mlp: mlpAttribution,
  gatedMlp: mlpAttribution,
};
