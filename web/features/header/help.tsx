// The help, which explains keys and terms.

import { useSession, useTexts } from '../../store/context.ts';
import { texts as en } from './help.en.ts';
import { texts as zh } from './help.zh.ts';

export function HelpText() {
  const session = useSession();
  const texts = useTexts({ en, zh });
  return (
    <div class="list right help" role="dialog" tabIndex={0} aria-label={session.words.value.help}>
      <h2>{texts.keys}</h2>
      <dl>
        {texts.keyList.map(([keys, action]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
      <h2>{texts.terms}</h2>
      <dl>
        {texts.termList.map(([term, meaning]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
