// The ribbon or line that the visitor has chosen in flow. It is stored in session.picked.

import { shownPart } from '../../model/modelEdits.ts';
import type { AttentionPart } from '../../model/protocol/protocol.ts';
import type { State } from '../../model/state.ts';
import type { Session } from '../../store/session.ts';
import type { Composition, Part } from './flowLayout.ts';

/** Returns the attention of the decoder that is not shown: its own or its cross-attention. */
export const otherPart = ({ about, state }: Session) =>
  shownPart(about.value, state.value) === 'cross' ? ('decoder' as const) : ('cross' as const);

/** The colour of each kind of composition. */
export const COLOURS = { q: 'query', k: 'key', v: 'value' } as const;

export const sameComposition = (a: Composition, b: Composition) =>
  a.kind === b.kind &&
  a.from.layer === b.from.layer &&
  a.from.head === b.from.head &&
  a.to.layer === b.to.layer &&
  a.to.head === b.to.head;

/** Returns true if a part is chosen, or the current head if none is. `of`: attention of a head, if it is not shown. */
export const isPicked = (
  part: { kind: string; layer: number; head: number; of?: AttentionPart },
  picked: { kind: string; layer?: number } | null,
  state: State,
) =>
  picked
    ? picked.kind === part.kind && picked.layer === part.layer
    : part.kind === 'head' && part.of === undefined && part.layer === state.layer && part.head === state.head;

/** Chooses a part. A head becomes the current head. */
export function pick(
  session: Session,
  {
    kind,
    layer,
    head,
    of,
  }: { kind: 'head' | 'mlp' | 'embed' | 'bias' | 'rest' | 'others'; layer: number; head: number; of?: AttentionPart },
) {
  if (kind === 'head') {
    session.update({ layer, head, ...(of && { part: of, cell: null }) }, 'head');
    session.pick(null);
  } else session.pick({ kind, layer });
}

/** Returns the name of a part for tests and for lists, such as head4.2 or mlp3. */
export const nameOf = ({ kind, layer, head }: Part) => `${kind}${layer}${head < 0 ? '' : `.${head}`}`;
