// Reads from the page's state which token the view Text explains, and chooses another one.

import { texts as inEnglish } from './text.en.js';
import { texts as inChinese } from './text.zh.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Measured } from '../../store/surprise.js' */

const TEXTS = { en: inEnglish, zh: inChinese };
/** @param {Session} session */
export const textsIn = (session) => TEXTS[/** @type {'en' | 'zh'} */ (session.language.value)];

/**
 * Returns the token that is read: the one under the pointer, otherwise the chosen one, otherwise the last.
 * @param {Session} session @param {Measured} measured
 */
export const tokenIn = (session, { pieces }) =>
  Math.min(session.hover.value?.t ?? session.state.value.cell?.t ?? pieces.length - 1, pieces.length - 1);

/** Chooses a token, which becomes the query of the other views. @param {Session} session @param {number} t */
export const chooseToken = (session, t) =>
  session.look({ cell: { t, s: Math.min(session.state.value.cell?.s ?? 0, t) } });

/** Returns the name of the other case. @param {Session} session @param {Measured} measured */
export function otherName(session, { kind }) {
  const words = session.words.value;
  const { layer, head } = session.state.value;
  if (kind === null) return '';
  return kind === 'without' ? words.other_without(words.headInText(layer, head)) : words[`other_${kind}`];
}

/** Returns a probability with as many digits as it needs. @param {number} p */
export function percentText(p) {
  const percent = 100 * p;
  if (percent >= 1 || percent === 0) return `${Math.round(percent)}%`;
  return percent < 0.01 ? '<0.01%' : `${percent.toFixed(percent < 0.1 ? 2 : 1)}%`;
}
