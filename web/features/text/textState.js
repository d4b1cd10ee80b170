// The view Text reads the token in question from the page's state, and chooses another one there.

import { texts as inEnglish } from './text.en.js';
import { texts as inChinese } from './text.zh.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Measured } from '../../store/surprise.js' */

const TEXTS = { en: inEnglish, zh: inChinese };
/** @param {Session} session */
export const textsIn = (session) => TEXTS[/** @type {'en' | 'zh'} */ (session.language.value)];

/**
 * The token that is read: under the pointer, chosen, or the last one.
 * @param {Session} session @param {Measured} measured
 */
export const tokenIn = (session, { pieces }) =>
  Math.min(session.hover.value?.t ?? session.state.value.cell?.t ?? pieces.length - 1, pieces.length - 1);

/** Chooses a token: the query of the other views. @param {Session} session @param {number} t */
export const chooseToken = (session, t) =>
  session.look({ cell: { t, s: Math.min(session.state.value.cell?.s ?? 0, t) } });

/** The name of the other case. @param {Session} session @param {Measured} measured */
export function otherName(session, { kind }) {
  const words = session.words.value;
  const { layer, head } = session.state.value;
  if (kind === null) return '';
  return kind === 'without' ? words.other_without(words.headInText(layer, head)) : words[`other_${kind}`];
}

/** A probability with as many digits as it needs. @param {number} p */
export function percentText(p) {
  const percent = 100 * p;
  if (percent >= 1 || percent === 0) return `${Math.round(percent)}%`;
  return percent < 0.01 ? '<0.01%' : `${percent.toFixed(percent < 0.1 ? 2 : 1)}%`;
}
