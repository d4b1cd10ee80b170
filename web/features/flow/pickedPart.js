// The ribbon or line that the visitor has chosen in flow. It is stored in session.picked.

import { shownPart } from '../whatif/modelEdits.js';

/** @import { AttentionPart } from '../../store/protocol.js' */
/** @import { Session } from '../../store/session.js' */
/** @import { State } from '../../store/state.js' */
/** @import { Composition, Part } from './flowLayout.js' */

/** Returns the attention of the decoder that is not shown: its own or its cross-attention. @param {Session} session */
export const otherPart = ({ about, state }) =>
  shownPart(about.value, state.value) === 'cross' ? /** @type {const} */ ('decoder') : /** @type {const} */ ('cross');

/** The colour of each kind of composition. */
export const COLOURS = /** @type {const} */ ({ q: 'query', k: 'key', v: 'value' });

/** @param {Composition} a @param {Composition} b */
export const sameComposition = (a, b) =>
  a.kind === b.kind &&
  a.from.layer === b.from.layer &&
  a.from.head === b.from.head &&
  a.to.layer === b.to.layer &&
  a.to.head === b.to.head;

/**
 * Returns true if a part is chosen. If no part is chosen, the current head counts as chosen.
 * @param {{ kind: string, layer: number, head: number, of?: AttentionPart }} part of: attention that a head belongs to,
 *   if that is not the attention that is shown
 * @param {{ kind: string, layer?: number } | null} picked
 * @param {State} state
 */
export const isPicked = (part, picked, state) =>
  picked
    ? picked.kind === part.kind && picked.layer === part.layer
    : part.kind === 'head' && part.of === undefined && part.layer === state.layer && part.head === state.head;

/**
 * Chooses a part. A head becomes the current head.
 * @param {Session} session
 * @param {{ kind: 'head' | 'mlp' | 'embed' | 'bias' | 'rest' | 'others', layer: number, head: number,
 *   of?: AttentionPart }} part
 */
export function pick(session, { kind, layer, head, of }) {
  if (kind === 'head') {
    session.update({ layer, head, ...(of && { part: of, cell: null }) }, 'head');
    session.pick(null);
  } else session.pick({ kind, layer });
}

/** Returns the name of a part for tests and for lists, such as head4.2 or mlp3. @param {Part} part */
export const nameOf = ({ kind, layer, head }) => `${kind}${layer}${head < 0 ? '' : `.${head}`}`;
