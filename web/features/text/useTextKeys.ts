// The keyboard in the view Text: ← and → move between tokens; Escape releases the chosen token, and if none is chosen
// closes the view.

import { percentText } from '../../model/numbers.ts';
import { shown } from '../../model/tokens.ts';
import { useSession } from '../../store/context.ts';
import type { Measured } from '../../store/measured/surprise.ts';
import { chooseToken, textsIn, tokenIn } from './textState.ts';

/** Number of tokens that Page Up and Page Down move. */
const PAGE = 20;

const STEPS: Record<string, (t: number, T: number) => number> = {
  ArrowLeft: (t) => t - 1,
  ArrowRight: (t) => t + 1,
  PageUp: (t) => t - PAGE,
  PageDown: (t) => t + PAGE,
  Home: () => 0,
  End: (_, T) => T - 1,
};

export function useTextKeys(measured: Measured | null) {
  const session = useSession();
  const own = textsIn(session);

  const speak = ({ pieces, now }: Measured, t: number) => {
    const [name, token] = [pieces[t].name, now[t]];
    if (!token) return session.announce(own.spokenSilent(name));
    const [{ text }] = token.guesses;
    session.announce(own.spoken(name, percentText(token.probability), shown(text).trim()));
  };
  return {
    onKey(event: KeyboardEvent) {
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
    onEscape(event: KeyboardEvent) {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      event.preventDefault();
      event.stopPropagation();
      session.setHover(null);
      if (session.state.value.cell) return session.look({ cell: null });
      session.update({ view: 'heatmap' });
    },
  };
}
