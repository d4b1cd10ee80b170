// Lists contributions to a logit, the largest first, and adds up the small ones.

import type { Ablation, AttentionPart } from '../../model/protocol/protocol.ts';
import type { Added, Part } from './flowLayout.ts';
/** The contribution of a part to a logit. of: attention of a head, if not the shown one. */
export type Contribution = Omit<Part, 'kind'> & { kind: Part['kind'] | 'bias'; value: number; of?: AttentionPart };

/** Returns every part once; their sum is the logit. `other`: the attention of the decoder that is not shown. */
export function allParts(
  { embed, heads, others, mlps, bias }: Added,
  size: { layers: number; heads: number; mlps?: boolean },
  other: AttentionPart = 'cross',
): Contribution[] {
  const parts: Contribution[] = [{ kind: 'embed', layer: -1, head: -1, value: embed }];
  for (let layer = 0; layer < size.layers; layer++) {
    for (let head = 0; head < size.heads; head++)
      parts.push({ kind: 'head', layer, head, value: heads[layer * size.heads + head] });
    for (let head = 0; others && head < size.heads; head++)
      parts.push({ kind: 'head', of: other, layer, head, value: others[layer * size.heads + head] });
    if (size.mlps) parts.push({ kind: 'mlp', layer, head: -1, value: mlps[layer] });
  }
  parts.push({ kind: 'bias', layer: -1, head: -1, value: bias });
  return parts;
}

/** hide: threshold of an absolute contribution; count: maximum number of parts. The remaining parts are summed. */
export function partsAdding(
  added: Added,
  size: { layers: number; heads: number; mlps?: boolean },
  { hide, count, other }: { hide: number; count: number; other?: AttentionPart },
) {
  const all = allParts(added, size, other).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const first = all.filter(({ value }) => Math.abs(value) >= hide).slice(0, count);
  const rest = all.filter((part) => !first.includes(part) && part.value !== 0);
  return {
    positive: first.filter(({ value }) => value > 0),
    negative: first.filter(({ value }) => value < 0),
    others: { count: rest.length, value: rest.reduce((sum, { value }) => sum + value, 0) },
    most: first.length > 0 ? Math.abs(first[0].value) : 1,
  };
}

/** Large effect: the ablation lowers the probability by MIN_EFFECT. Small contribution: below MAX_SHARE of the sum. */
const [MIN_EFFECT, MAX_SHARE] = [0.05, 0.1];

/**
 * Returns heads with a large effect although their contribution is small: they act through other heads. The largest
 * fall of the probability is first. `shown`: the attention to which the contributions in `heads` belong.
 */
export function actingThrough(
  found: Pick<Ablation, 'before' | 'switchedOff'> | null,
  added: Added,
  { heads }: { heads: number },
  shown: AttentionPart = 'decoder',
): { part: AttentionPart; layer: number; head: number; change: number }[] {
  // A head of the encoder contributes nothing directly to the logit.
  const contribution = (part: AttentionPart, at: number) =>
    part === 'encoder' ? 0 : ((part === shown ? added.heads : added.others)?.[at] ?? 0);
  return (found?.switchedOff ?? [])
    .map(({ part, layer, head, value }) => ({ part, layer, head, change: value - (found?.before ?? 0) }))
    .filter(
      ({ part, layer, head, change }) =>
        change <= -MIN_EFFECT && contribution(part, layer * heads + head) < MAX_SHARE * added.sum,
    )
    .sort((a, b) => a.change - b.change);
}
