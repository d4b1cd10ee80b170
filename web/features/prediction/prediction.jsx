// What comes next: a bar for now, a tick for the other case, a thin line for the way between them.

import { PROGRAM_MODEL } from '../../store/state.js';
import { px, useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';
import { WriteOn } from '../prompt/continueText.jsx';
import { endOf, shown } from '../prompt/tokens.js';
import { isEmpty } from '../views.js';
import { isCompared } from '../whatif/edits.js';

const AboutHeads = later(() => import('../heads/attentionOnly.jsx'), 'AboutHeads');
const Recognised = later(() => import('../open/openPanel.jsx'), 'Recognised');

/** Which case the ticks are; or, while another token is read, that the guesses stand after the last one. */
function Other({ other, head }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const t = session.cell.value?.t ?? 0;
  if (other)
    return (
      <p class="other">
        <span class="mark" />
        {other.kind === 'without'
          ? words.other_without(head)
          : words[/** @type {'other_with'} */ (`other_${other.kind}`)]}
      </p>
    );
  const elsewhere = run?.about.guess === 'next' && run.about.reads !== 'pair' && t < run.T - 1;
  return (
    <p class="other">
      {elsewhere && (
        <>
          {words.atTheEnd[0]} <q class="query">{run.pieces[t].name}</q>
          {words.atTheEnd[1]}
        </>
      )}
    </p>
  );
}

export function Prediction({ short = false, writes = false }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const other = session.comparison.value;
  const compared = isCompared(other, session.switchHover.value);
  const { layer, head, part } = session.state.value;
  const top = run?.top ?? [];
  const most = Math.max(...top.map(({ now }, i) => Math.max(now, other?.top[i] ?? 0)), 0.01);
  const at = (p) => `${(100 * p) / most}%`;
  const about = run?.about;
  // Of an encoder–decoder the next token stands after what the decoder has written, not after what it reads.
  const after =
    about?.guess === 'next' && !(about.reads === 'pair' && part === 'encoder') ? endOf(run.pieces ?? []) : '';
  if (about?.kind === 'layer') return <AboutHeads />;
  const found = session.opening.opened.value.find(({ about }) => about.name === session.state.value.model);
  if (found?.summary && about && !about.predicts)
    return (
      // Longer than its place it is scrolled, by keyboard too.
      <section class="prediction about" role="group" aria-label={words.open.recognised} tabIndex={0}>
        <Recognised found={found} />
        {'sums' in found.summary && found.summary.sums === 'columns' && found.about.parts.length === 0 && (
          <button type="button" class="word" onClick={session.transposeWeights}>
            {words.open.transpose}
          </button>
        )}
        {found.about.name !== PROGRAM_MODEL && (
          <button type="button" class="word" onClick={() => session.opening.close(found.about.name)}>
            {words.open.forget}
          </button>
        )}
      </section>
    );
  if (about?.guess === 'masked' && top.length === 0)
    return (
      <section class="prediction about" aria-label={words.next}>
        <p>{words.open.coverFirst}</p>
      </section>
    );
  const title = { masked: words.open.covered, classes: words.open.sees }[about?.guess] ?? words.next;
  return (
    <section class={`prediction ${compared ? 'compared' : ''}`} data-guess={about?.guess} aria-label={title}>
      <h2 hidden={isEmpty(run)}>
        <b>{title}</b>
        {about?.mask && <i> {about.mask}</i>}
        {!short && after && (
          <>
            {' '}
            {words.after} <i>{after}</i>
          </>
        )}
      </h2>
      {writes && <WriteOn />}
      <ul>
        {top.map(({ id, text, now }, i) => {
          const then = other?.top[i];
          return (
            <li key={i}>
              <button
                type="button"
                aria-pressed={id === run.chosen.id}
                title={words.follow(
                  shown(text),
                  words.percent(now),
                  compared && then !== undefined && words.percent(then),
                )}
                onClick={() => session.update({ token: id === run.top[0].id ? null : id })}
              >
                <span class="token">{shown(text).trim() || '␣'}</span>
                <span class="track">
                  {then !== undefined && (
                    <span class="way" style={px({ left: at(Math.min(now, then)), width: at(Math.abs(now - then)) })} />
                  )}
                  <span class="bar" style={px({ width: at(now) })} />
                  {then !== undefined && <span class="tick" style={px({ left: at(then) })} />}
                </span>
                <b>{words.percent(now)}</b>
                {!short && (
                  <span class="then">
                    {compared && then !== undefined && (
                      <>
                        <span class="mark" />
                        {words.percent(then)}
                      </>
                    )}
                  </span>
                )}
              </button>
            </li>
          );
        })}
      </ul>
      <Other other={compared ? other : null} head={words.headInText(layer, head)} />
    </section>
  );
}
