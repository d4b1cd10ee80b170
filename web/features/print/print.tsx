// Styles for print and for forced colours, the caption of a printed picture, and the light theme while a dark page is
// printed. This file is loaded with the first input of the visitor.

import { useEffect } from 'preact/hooks';
import { useSession } from '../../store/context.ts';
import { customProperties, type Theme } from '../../ui/palette.ts';
import css from './print.css';
import { texts as inEnglish } from './print.en.ts';
import { texts as inChinese } from './print.zh.ts';

export const styles = `${css}
@media print { :host([data-theme]) { ${customProperties('light')} color-scheme: light } }`;

const TEXTS = { en: inEnglish, zh: inChinese };

export function Media() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  useEffect(() => {
    const paper = matchMedia('print');
    let theme: Theme | null = null;
    const followPaper = () => {
      if (paper.matches && theme === null) {
        theme = session.theme.peek();
        session.showTheme('light');
      } else if (!paper.matches && theme !== null) {
        session.showTheme(theme);
        theme = null;
      }
    };
    // The page may be printed before this effect has run.
    followPaper();
    paper.addEventListener('change', followPaper);
    return () => paper.removeEventListener('change', followPaper);
  }, []);
  if (!run?.T) return null;
  const model = session.about.value?.title ?? words.whale;
  return (
    <p class="caption">
      {TEXTS[session.language.value as 'en' | 'zh'].caption(words.headName(run.layer, run.head), model)}
    </p>
  );
}
