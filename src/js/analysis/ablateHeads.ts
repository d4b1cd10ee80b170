// Ablation: measures a metric once for each head, with that head left out.

import { checkOptions, readWord } from '../check/arguments.ts';
import { argumentError } from '../check/errors.ts';
import type { Model, Numbers } from './arrays.ts';
import { checkMetric, type Metric, type PatchEdit, type PatchedModel, runEdited } from './patching/pairs.ts';
import { readSteps } from './steps.ts';

/**
 * Self-attention of encoder or decoder, or cross-attention. A model with one stack, even an encoder, has only
 * 'decoder'.
 */
export type AttentionPart = 'encoder' | 'decoder' | 'cross';
/** Progress after a run. value: the metric of that run, in which `head` was left out. */
export type AblationProgress = {
  done: number;
  total: number;
  part: AttentionPart;
  layer: number;
  head: number;
  value: number;
};
export type AblationOptions<P extends AttentionPart = AttentionPart> = {
  /** default: all parts of the model */
  parts?: readonly P[] | undefined;
  /** what replaces the output of a head: zeros, or its mean over all tokens of the input; default 'zero' */
  set?: 'zero' | 'mean' | undefined;
  /** changes of every run, applied before the edit of the head */
  edit?: readonly PatchEdit[] | undefined;
  /** a promise is awaited; if it rejects, ablateHeads rejects */
  onProgress?: ((progress: AblationProgress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
export type HeadAblation<P extends AttentionPart = AttentionPart> = {
  /** the metric with all heads */
  value: number;
  /** for each head, the metric of the run without that head, (L,H); a model without an encoder has only 'decoder' */
  parts: Record<P, Numbers>;
};

const AT: Record<AttentionPart, (layer: number) => string> = {
  encoder: (layer) => `encoder.blocks.${layer}.heads`,
  decoder: (layer) => `blocks.${layer}.heads`,
  cross: (layer) => `blocks.${layer}.cross.heads`,
};

/**
 * Runs a model once for each head while the output of that head is replaced before the output projection (Michel et al.
 * 2019, "Are Sixteen Heads Really Better than One?"). The values are measured, not estimated. For a model without
 * logits, use `hiddenAngle` as the metric.
 */
export async function ablateHeads<P extends AttentionPart = AttentionPart>(
  model: PatchedModel,
  input: any,
  metric: Metric,
  options: AblationOptions<P> = {},
): Promise<HeadAblation<P>> {
  const caller = 'ablateHeads';
  checkOptions(caller, options, ['parts', 'set', 'edit', 'onProgress', 'signal']);
  const { edit = [] } = options;
  const steps = readSteps(caller, options);
  const set = readWord(caller, 'set', options.set ?? 'zero', ['zero', 'mean'] as const);
  if (!Array.isArray(edit)) throw argumentError(caller, 'edit', edit, 'a list of edits');
  checkMetric(caller, metric);
  const parts = readParts(caller, model, options.parts);
  steps.check();

  const value = runEdited(caller, model, input, metric, [...edit]);
  const sizes = parts.map((part) => stackOf(model, part)).map(({ layers, numHeads }) => [layers, numHeads]);
  const found = sizes.map((shape) => ({ data: new Float32Array(shape[0] * shape[1]), shape }));
  const total = found.reduce((count, { data }) => count + data.length, 0);
  let done = 0;
  for (const [p, part] of parts.entries())
    for (let i = 0; i < found[p].data.length; i++) {
      const [layer, head] = [Math.floor(i / sizes[p][1]), i % sizes[p][1]];
      const off = { at: AT[part](layer), head, set };
      const without = await steps.run(() => runEdited(caller, model, input, metric, [...edit, off]));
      found[p].data[i] = without;
      await steps.report({ done: ++done, total, part, layer, head, value: without });
    }
  const byPart = Object.fromEntries(parts.map((part, p) => [part, found[p]]));
  return { value, parts: byPart as Record<P, Numbers> };
}

const stackOf = ({ options }: Model, part: AttentionPart) =>
  part === 'encoder' && options.encoder ? options.encoder : options;

function readParts(caller: string, { options: { encoder, cross } }: Model, parts: unknown): AttentionPart[] {
  const known = [...(encoder ? ['encoder'] : []), 'decoder', ...(cross ? ['cross'] : [])] as AttentionPart[];
  if (parts === undefined) return known;
  const isKnown = (part: any) => known.includes(part);
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isKnown))
    throw argumentError(caller, 'parts', parts, `a list of parts of this model: ${known.join(', ')}`);
  return [...new Set(parts)];
}
