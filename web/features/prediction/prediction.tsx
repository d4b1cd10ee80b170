// The predictions of the next token: a bar for the current run, a tick for the comparison, and a thin line between the
// two.

import type { TargetedKeyboardEvent } from 'preact';
import { isCompared } from '../../model/modelEdits.ts';
import type { Prediction as Guess } from '../../model/protocol/protocol.ts';
import { PROGRAM_MODEL, type State } from '../../model/state.ts';
import { endOf, shown } from '../../model/tokens.ts';
import { isOpen } from '../../model/training/settings.ts';
import type { OpenedModel, Run, RunWithPredictions } from '../../model/types.ts';
import { canShow, isEmpty } from '../../model/viewRules.ts';
import { WriteOn } from '../../parts/continueText.tsx';
import { later } from '../../parts/lazy.ts';
import { useSession } from '../../store/context.ts';
import { hasPredictions } from '../../store/runParts.ts';
import { Track } from '../../ui/track.tsx';
import { AboutHeads } from '../heads/feature.ts';
import { Recognised } from '../open/feature.ts';
import { Similarity } from '../similarity/feature.ts';
import { FrameLetters } from '../sound/feature.ts';
import { TextImage } from '../textImage/feature.ts';
import { TraceOffer } from '../trace/feature.ts';

const Turned = later(() => import('../../parts/turned.tsx'), 'Turned');

/**
 * top: probabilities in the
 *   comparison
 */
export type Other = { kind: 'pinned' | 'with' | 'before' | 'without'; top: number[] };

export function Prediction({ short = false, writes = false }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  if (!run) return <Guesses short={short} writes={writes} />;
  const { about } = run;
  const found = session.opening.opened.value.find(({ about }) => about.name === session.state.value.model);
  if (about?.kind === 'layer') return <AboutHeads about={about} />;
  if (about?.matches) return <TextImage short={short} />;
  if (about?.compares && (run.top ?? []).length === 0) return <Similarity />;
  if (run.letters) return <FrameLetters />;
  if (found?.summary && about && !about.predicts) return <AboutFile found={found} />;
  if (about?.guess === 'masked' && (run.top ?? []).length === 0)
    return (
      <section class="prediction about" aria-label={words.next}>
        <p>{words.open.coverFirst}</p>
        <Turned />
      </section>
    );
  return <Guesses short={short} writes={writes} />;
}

/** Describes a file that makes no predictions: its recognised contents, or the effect of a change. */
function AboutFile({ found }: { found: OpenedModel }) {
  const session = useSession();
  const words = session.words.value;
  const turned = session.turned.value;
  if (turned && isCompared(turned, session.switchHover.value))
    return (
      <section class="prediction about" role="group" aria-label={words.whatIf} tabIndex={0}>
        <Turned />
      </section>
    );
  return (
    // A long description scrolls, by keyboard too, so it can have the focus.
    <section class="prediction about" role="group" aria-label={words.open.recognised} tabIndex={0}>
      {found.about.kind === 'transformer' && <Turned />}
      <Recognised found={found} />
      {found.summary?.kind === 'weights' && found.summary.sums === 'columns' && found.about.parts.length === 0 && (
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
}

function Guesses({ short, writes }: { short: boolean; writes: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const other = session.comparison.value;
  const compared = isCompared(other, session.switchHover.value);
  const { layer, head, part } = session.state.value;
  const predicted = hasPredictions(run) ? run : null;
  const about = run?.about;
  // In an encoder–decoder the next token follows the text of the decoder, not the text of the encoder.
  const after = run && about?.guess === 'next' && about.parts.length > 0 && part !== 'encoder' ? endOf(run.pieces) : '';
  const titles: Record<string, string> = { masked: words.open.covered, classes: words.open.sees };
  const title = titles[about?.guess ?? ''] ?? words.next;
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
      <GuessList run={predicted} other={other} compared={compared} short={short} />
      {writes && <WriteOn />}
      <OtherNote other={compared ? other : null} head={words.headInText(layer, head)} />
      {offersTrace(session.state.value, run) && <TraceOffer />}
    </section>
  );
}

/** Returns true if the text of the pinned run differs from the current text, and a trace can compare the two. */
const offersTrace = (state: State, run: Run | null) =>
  state.pinned !== null &&
  state.pinned.text !== state.text &&
  state.view !== 'trace' &&
  state.panel !== 'story' &&
  !isOpen(state) &&
  canShow('trace', run);

/** The predictions, of which one is chosen. Arrow keys choose the previous or next one. */
function GuessList({
  run,
  other,
  compared,
  short,
}: {
  run: RunWithPredictions | null;
  other: Other | null;
  compared: boolean;
  short: boolean;
}) {
  const session = useSession();
  const words = session.words.value;
  if (!run) return <div class="options" />;
  const listed = run.top.map((guess, i) => ({ guess, before: other?.top[i], isApart: isApart(run.top, i) }));
  const follow = (id: number) => session.update({ token: id === run.top[0].id ? null : id });
  const walk = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const by = GUESS_KEYS[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const at = listed.findIndex(({ guess }) => guess.id === run.chosen.id);
    const next = Math.min(Math.max(at + by, 0), listed.length - 1);
    follow(listed[next].guess.id);
    (event.currentTarget.children[next] as HTMLElement).focus();
  };
  return (
    <div class="options" role="listbox" aria-label={words.next} onKeyDown={walk}>
      {listed.map((one) => (
        <GuessRow key={one.guess.id} {...one} run={run} compared={compared} short={short} follow={follow} />
      ))}
    </div>
  );
}

/** Returns true if likelier predictions are left out before one of the list. */
const isApart = (listed: readonly Guess[], i: number) => i > 0 && (listed[i].rank ?? 0) > (listed[i - 1].rank ?? 0) + 1;

const GUESS_KEYS: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

function GuessRow({
  guess: { id, text, now, rank = 0 },
  run,
  before,
  isApart,
  compared,
  short,
  follow,
}: {
  guess: Guess;
  run: RunWithPredictions;
  /** probability in the comparison */
  before?: number;
  /** true if likelier predictions are left out before this one */
  isApart: boolean;
  compared: boolean;
  short: boolean;
  follow: (id: number) => void;
}) {
  const words = useSession().words.value;
  const isChosen = id === run.chosen.id;
  const other = compared && before !== undefined && words.fine(before);
  return (
    <div
      class={isApart ? 'option apart' : 'option'}
      role="option"
      tabIndex={isChosen ? 0 : -1}
      aria-selected={isChosen}
      title={words.follow(shown(text), words.fine(now), other, isApart ? rank : 0)}
      onClick={() => follow(id)}
    >
      <span class="token">{shown(text).trim() || '␣'}</span>
      <Track now={now} before={before} />
      <b>{words.fine(now)}</b>
      {!short && (
        <span class="then">
          {other && (
            <>
              <span class="mark" />
              {other}
            </>
          )}
        </span>
      )}
    </div>
  );
}

/** Names the comparison; without one, says that predictions follow the last token if the query is another one. */
function OtherNote({ other, head }: { other: Other | null; head: string }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const t = session.cell.value?.t ?? 0;
  if (other)
    return (
      <p class="other">
        <span class="mark" />
        {other.kind === 'without' ? words.other_without(head) : words[`other_${other.kind}`]}
      </p>
    );
  const elsewhere = run?.about.guess === 'next' && run.about.parts.length === 0 && t < run.T - 1;
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
