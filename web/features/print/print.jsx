// On paper, and in colours of the visitor's own: its styles, the caption under the picture, and light colours where the
// page is dark. It comes with the first movement of a hand.

import { useEffect } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { customProperties } from '../../ui/palette.js';
import css from './print.css';
import { texts as inEnglish } from './print.en.js';
import { texts as inChinese } from './print.zh.js';

export const styles = `${css}
@media print { :host([data-theme]) { ${customProperties('light')} color-scheme: light } }`;

const TEXTS = { en: inEnglish, zh: inChinese };

export function Media() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  useEffect(() => {
    const paper = matchMedia('print');
    /** @type {any} */
    let theme = null;
    const turn = () => {
      if (paper.matches === (theme !== null)) return;
      const next = paper.matches ? 'light' : theme;
      theme = paper.matches ? session.theme.peek() : null;
      session.showTheme(next);
    };
    // The page may be printed before this effect has run.
    turn();
    paper.addEventListener('change', turn);
    return () => paper.removeEventListener('change', turn);
  }, []);
  if (!run?.T) return null;
  const model = session.about.value?.title ?? words.whale;
  return <p class="caption">{TEXTS[session.language.value].caption(words.headName(run.layer, run.head), model)}</p>;
}
