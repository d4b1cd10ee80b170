// The predictions of the next token: a bar for the current run, a tick for the comparison, and a thin line between the
// two.

import { hasPredictions } from '../../store/runParts.js';
import { PROGRAM_MODEL } from '../../store/state.js';
import { useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';
import { Track } from '../../ui/track.jsx';
import { WriteOn } from '../prompt/continueText.jsx';
import { endOf, shown } from '../prompt/tokens.js';
import { isOpen } from '../train/settings.js';
import { canShow, isEmpty } from '../viewRules.js';
import { isCompared } from '../whatif/modelEdits.js';

const TraceOffer = later(() => import('../trace/offer.jsx'), 'TraceOffer');
const AboutHeads = later(() => import('../heads/attentionOnly.jsx'), 'AboutHeads');
const Similarity = later(() => import('../similarity/similarity.jsx'), 'Similarity');
const TextImage = later(() => import('../textImage/textImage.jsx'), 'TextImage');
const Turned = later(() => import('./turned.jsx'), 'Turned');
const FrameLetters = later(() => import('../sound/letters.jsx'), 'FrameLetters');
const Recognised = later(() => import('../open/openPanel.jsx'), 'Recognised');

/** @import { Prediction as Guess } from '../../store/protocol.js' */
/** @import { State } from '../../store/state.js' */
/** @import { OpenedModel, Run, RunWithPredictions } from '../../store/types.js' */
/**
 * @typedef {{ kind: 'pinned' | 'with' | 'before' | 'without', top: number[] }} Other top: probabilities in the
 *   comparison
 */

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

/**
 * Describes a file that makes no predictions: its recognised contents, or the effect of a change.
 * @param {{ found: OpenedModel }} props
 */
function AboutFile({ found }) {
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

/** @param {{ short: boolean, writes: boolean }} props */
function Guesses({ short, writes }) {
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
  /** @type {Record<string, string>} */
  const titles = { masked: words.open.covered, classes: words.open.sees };
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

/**
 * Returns true if the text of the pinned run differs from the current text, and a trace can compare the two.
 * @param {State} state @param {Run | null} run
 */
const offersTrace = (state, run) =>
  state.pinned !== null &&
  state.pinned.text !== state.text &&
  state.view !== 'trace' &&
  state.panel !== 'story' &&
  !isOpen(state) &&
  canShow('trace', run);

/**
 * The predictions, of which one is chosen. Arrow keys choose the previous or next one.
 * @param {{ run: RunWithPredictions | null, other: Other | null, compared: boolean, short: boolean }} props
 */
function GuessList({ run, other, compared, short }) {
  const session = useSession();
  const words = session.words.value;
  if (!run) return <div class="options" />;
  const listed = run.top.map((guess, i) => ({ guess, before: other?.top[i], isApart: isApart(run.top, i) }));
  const follow = (/** @type {number} */ id) => session.update({ token: id === run.top[0].id ? null : id });
  const walk = (/** @type {import('preact').TargetedKeyboardEvent<HTMLElement>} */ event) => {
    const by = GUESS_KEYS[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const at = listed.findIndex(({ guess }) => guess.id === run.chosen.id);
    const next = Math.min(Math.max(at + by, 0), listed.length - 1);
    follow(listed[next].guess.id);
    /** @type {HTMLElement} */ (event.currentTarget.children[next]).focus();
  };
  return (
    <div class="options" role="listbox" aria-label={words.next} onKeyDown={walk}>
      {listed.map((one) => (
        <GuessRow key={one.guess.id} {...one} run={run} compared={compared} short={short} follow={follow} />
      ))}
    </div>
  );
}

/**
 * Returns true if likelier predictions are left out before one of the list.
 * @param {readonly Guess[]} listed @param {number} i
 */
const isApart = (listed, i) => i > 0 && (listed[i].rank ?? 0) > (listed[i - 1].rank ?? 0) + 1;

/** @type {Record<string, number>} */
const GUESS_KEYS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/**
 * @param {object} props
 * @param {Guess} props.guess
 * @param {RunWithPredictions} props.run
 * @param {number} [props.before] probability in the comparison
 * @param {boolean} props.isApart true if likelier predictions are left out before this one
 * @param {boolean} props.compared
 * @param {boolean} props.short
 * @param {(id: number) => void} props.follow
 */
function GuessRow({ guess: { id, text, now, rank = 0 }, run, before, isApart, compared, short, follow }) {
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

/**
 * Shows the name of the comparison. If there is no comparison and the query is not the last token, says that the
 * predictions are for the token after the last one.
 * @param {{ other: Other | null, head: string }} props
 */
function OtherNote({ other, head }) {
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
