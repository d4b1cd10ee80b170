// The keyboard in the view Text: ← and → move between tokens; Escape releases the chosen token, and if none is chosen
// closes the view.

import { useSession } from '../../ui/context.js';
import { shown } from '../prompt/tokens.js';
import { chooseToken, percentText, textsIn, tokenIn } from './textState.js';

/** @import { Measured } from '../../store/surprise.js' */

/** Number of tokens that Page Up and Page Down move. */
const PAGE = 20;

/** @type {Record<string, (t: number, T: number) => number>} */
const STEPS = {
  ArrowLeft: (t) => t - 1,
  ArrowRight: (t) => t + 1,
  PageUp: (t) => t - PAGE,
  PageDown: (t) => t + PAGE,
  Home: () => 0,
  End: (_, T) => T - 1,
};

/** @param {Measured | null} measured */
export function useTextKeys(measured) {
  const session = useSession();
  const own = textsIn(session);

  /** @param {Measured} text @param {number} t */
  const speak = ({ pieces, now }, t) => {
    const [name, token] = [pieces[t].name, now[t]];
    if (!token) return session.announce(own.spokenSilent(name));
    const [{ text }] = token.guesses;
    session.announce(own.spoken(name, percentText(token.probability), shown(text).trim()));
  };
  return {
    onKey(/** @type {KeyboardEvent} */ event) {
      if (!measured || event.ctrlKey || event.metaKey || !Object.hasOwn(STEPS, event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      const T = measured.pieces.length;
      const from = tokenIn(session, measured);
      const t = Math.min(Math.max(STEPS[event.key](from, T), 0), T - 1);
      session.setHover(null);
      chooseToken(session, t);
      speak(measured, t);
    },
    onEscape(/** @type {KeyboardEvent} */ event) {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      event.preventDefault();
      event.stopPropagation();
      session.setHover(null);
      if (session.state.value.cell) return session.look({ cell: null });
      session.update({ view: 'heatmap' });
    },
  };
}
