// Reads from the page's state which token the view Text explains, and chooses another one.

import type { Measured } from '../../store/measured/surprise.ts';
import type { Session } from '../../store/session.ts';
import { texts as inEnglish } from './text.en.ts';
import { texts as inChinese } from './text.zh.ts';

const TEXTS = { en: inEnglish, zh: inChinese };
export const textsIn = (session: Session) => TEXTS[session.language.value as 'en' | 'zh'];

/** Returns the token that is read: the one under the pointer, otherwise the chosen one, otherwise the last. */
export const tokenIn = (session: Session, { pieces }: Measured) =>
  Math.min(session.hover.value?.t ?? session.state.value.cell?.t ?? pieces.length - 1, pieces.length - 1);

/** Chooses a token, which becomes the query of the other views. */
export const chooseToken = (session: Session, t: number) =>
  session.look({ cell: { t, s: Math.min(session.state.value.cell?.s ?? 0, t) } });

export function otherName(session: Session, { kind }: Measured) {
  const words = session.words.value;
  const { layer, head } = session.state.value;
  if (kind === null) return '';
  return kind === 'without' ? words.other_without(words.headInText(layer, head)) : words[`other_${kind}`];
}
