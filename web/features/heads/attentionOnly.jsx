// What stands where a model has its guesses, for heads without one: what they are; for the sentence encoder, how alike
// two sentences are.

import { PROGRAM_MODEL } from '../../store/state.js';
import { plain, px, useSession } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';
import { heads as inEnglish } from './attentionOnly.en.js';
import { heads as inChinese } from './attentionOnly.zh.js';

export function AboutHeads() {
  const session = useSession();
  const words = session.words.value;
  const own = session.language.value === 'zh' ? inChinese : inEnglish;
  const about = session.about.value;
  const run = session.run.value;
  const state = session.state.value;
  const found = session.opening.opened.value.find(({ about: { name } }) => name === about.name);
  if (about.name === 'sentence') return <Likeness own={own} likeness={run?.likeness} second={state.second} />;
  if (found?.summary?.kind !== 'layer')
    return (
      <section class="prediction about" aria-label={own.about}>
        {own[about.name]?.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </section>
    );
  const { summary } = found;
  return (
    <section class="prediction about" aria-label={words.open.recognised}>
      <ul class="recognised">
        <li>{summary.projected ? own.projected : own.given}</li>
        <li>{own.layer(summary.T, summary.S, summary.width)}</li>
        {summary.batch > 1 && <li>{own.batch(summary.batch)}</li>}
        {!summary.named && <li>{own.noTokens}</li>}
      </ul>
      <p class="group">
        {about.choices?.length > 1 && (
          <>
            <span class="label">{own.split}</span>
            <Menu
              name={`${own.split}: ${about.heads}`}
              label={about.heads}
              items={about.choices.map((n) => ({
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

function Likeness({ own, likeness, second }) {
  const session = useSession();
  const known = Number.isFinite(likeness);
  return (
    <section class="prediction about" aria-label={own.likeness}>
      <h2>
        <b>{own.likeness}</b>
      </h2>
      <input
        class="second"
        aria-label={own.second}
        placeholder={own.second}
        value={second}
        onInput={(event) => session.update({ second: event.currentTarget.value, cell: null }, 'second')}
        onBlur={session.endGesture}
        onKeyDown={(event) => event.stopPropagation()}
      />
      <p class="likeness">
        <span class="track">
          {known && <span class="bar" style={px({ width: `${Math.max(100 * likeness, 0)}%` })} />}
        </span>
        <b data-name="likeness">{known ? plain(likeness) : ''}</b>
      </p>
      <p>{own.likenessAbout}</p>
    </section>
  );
}
