// A description in the place of the next token, for attention heads without a language model.

import type { About, LayerSummary } from '../../model/protocol/protocol.ts';
import { PROGRAM_MODEL } from '../../model/state.ts';
import { useSession } from '../../store/context.ts';
import { Menu } from '../../ui/menu.tsx';
import { TwoSentences } from '../similarity/feature.ts';
import { heads as inEnglish } from './attentionOnly.en.ts';
import { heads as inChinese } from './attentionOnly.zh.ts';

export type Texts = typeof inEnglish;

export function AboutHeads({ about }: { about: About }) {
  const session = useSession();
  const own = session.language.value === 'zh' ? inChinese : inEnglish;
  const found = session.opening.opened.value.find(({ about: { name } }) => name === about.name);
  if (about.name === 'sentence') return <TwoSentences cosine={session.run.value?.likeness} />;
  if (found?.summary?.kind === 'layer') return <OpenedHeads own={own} about={about} summary={found.summary} />;
  const lines = own[about.name as 'constructed' | 'patches'];
  return (
    <section class="prediction about" aria-label={own.about}>
      {lines?.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </section>
  );
}

/** Describes heads that the user opened. summary: what was read from the file, see store/opening/openModels.ts. */
function OpenedHeads({ own, about, summary }: { own: Texts; about: About; summary: LayerSummary }) {
  const session = useSession();
  const words = session.words.value;
  const { choices = [] } = about;
  return (
    <section class="prediction about" aria-label={words.open.recognised}>
      <ul class="recognised">
        <li>{summary.projected ? own.projected : own.unprojected}</li>
        <li>{own.layer(summary.T, summary.S, summary.width)}</li>
        {summary.batch > 1 && <li>{own.batch(summary.batch)}</li>}
        {!summary.named && <li>{own.noTokens}</li>}
      </ul>
      <p class="group">
        {choices.length > 1 && (
          <>
            <span class="label">{own.split}</span>
            <Menu
              name={`${own.split}: ${about.heads}`}
              label={about.heads}
              items={choices.map((n) => ({
                key: String(n),
                label: n,
                chosen: n === about.heads,
                act: () => session.opening.splitHeads(n),
              }))}
            />
          </>
        )}
        {about.name !== PROGRAM_MODEL && (
          <button type="button" class="word" onClick={() => session.opening.close(about.name)}>
            {words.open.forget}
          </button>
        )}
      </p>
    </section>
  );
}
