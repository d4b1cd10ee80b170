// The two sentences as the header of the grid. Each column has one token, and the answer of each run is on the right.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { useSize } from '../../ui/useSize.js';
import { differsIn } from './alignWords.js';
import { MAX_COLUMNS } from './traceLayout.js';
import { textsIn, writeSentence } from './traceState.js';

/** @import { Column } from './alignWords.js' */
/** @import { Trace } from './places.js' */
/** @typedef {'upper' | 'lower'} Side */
/**
 * @typedef {{ trace: Trace | null, writing: 'upper' | 'lower' | 'words' | null,
 *   setWriting: (what: 'upper' | 'lower' | 'words' | null) => void }} Shared
 */

/** @param {Shared & { narrow: boolean }} props */
export function Sentences({ trace, writing, setWriting, narrow }) {
  return (
    <div class="trace-sentences">
      {
        /** @type {Side[]} */ (['upper', 'lower']).map((side) => (
          <Row
            key={side}
            side={side}
            trace={trace}
            narrow={narrow}
            writing={writing === side}
            setWriting={setWriting}
          />
        ))
      }
    </div>
  );
}

/** @param {Omit<Shared, 'writing'> & { side: Side, writing: boolean, narrow: boolean }} props */
function Row({ side, trace, writing, setWriting, narrow }) {
  const session = useSession();
  const own = textsIn(session);
  const { text, pinned } = session.state.value;
  const sentence = side === 'upper' ? (pinned?.text ?? '') : text;
  return (
    <div class={`trace-row ${side}`} lang="en">
      <button
        type="button"
        class="word side"
        lang={session.language.value === 'zh' ? 'zh-Hans' : undefined}
        aria-label={own.write(own[side], sentence)}
        onClick={() => setWriting(writing ? null : side)}
      >
        {own[side]}
      </button>
      {writing ? (
        <Field side={side} sentence={sentence} close={() => setWriting(null)} />
      ) : trace ? (
        <Tokens side={side} trace={trace} narrow={narrow} />
      ) : (
        <span class="bare-tokens">{sentence}</span>
      )}
      {trace && !writing && <Answers side={side} trace={trace} />}
    </div>
  );
}

/** @param {{ side: Side, sentence: string, close: () => void }} props */
function Field({ side, sentence, close }) {
  const session = useSession();
  const own = textsIn(session);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => field.current?.select(), []);
  const take = () => {
    const text = field.current?.value ?? '';
    close();
    if (text !== sentence) writeSentence(session, side, text);
  };
  return (
    <form
      class="trace-field"
      onSubmit={(event) => {
        event.preventDefault();
        take();
      }}
    >
      <input
        ref={field}
        defaultValue={sentence}
        aria-label={own.sentenceOf(own[side])}
        spellcheck={false}
        autocomplete="off"
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          close();
        }}
      />
      <button type="submit" class="word strong">
        {own.takeThis}
      </button>
    </form>
  );
}

/**
 * The tokens of a sentence. Tokens before the first word that differs are one text; every later token has a column.
 * @param {{ side: Side, trace: Trace, narrow: boolean }} props
 */
function Tokens({ side, trace, narrow }) {
  const { columns, first, upper, lower } = trace;
  const pieces = trace[side].pieces;
  const indexOf = (/** @type {Column} */ column) => (side === 'upper' ? column.from : column.into);
  const differs = differsIn(upper.pieces, lower.pieces);
  const bare = columns.slice(0, first).map((column) => pieces[indexOf(column)]);
  const others = columns.slice(first);
  const dense = others.length > MAX_COLUMNS;
  const area = useRef(/** @type {HTMLSpanElement | null} */ (null));
  useFittedWords(area, pieces, narrow || dense);
  const tokens = others.map((column, i) => {
    const piece = pieces[indexOf(column)];
    return (
      <span
        key={i}
        class={`token ${differs(column) ? 'differs' : ''} ${piece ? '' : 'missing'} ${piece?.space ? '' : 'joined'}`}
        title={dense || !narrow ? piece?.name : undefined}
      >
        {piece?.name ?? '·'}
      </span>
    );
  });
  return (
    <>
      <span class="bare-tokens">
        <span>{bare.map(({ space, text }) => space + text).join('')}</span>
      </span>
      <span class={`tokens ${dense ? 'dense' : ''}`} style={{ '--count': others.length }} ref={area}>
        {tokens}
      </span>
    </>
  );
}

/** The least letters of a word that does not fit into its column, in CSS pixels. */
const LEAST = 10;

/**
 * Writes words that are wider than their column in smaller letters.
 * @param {import('preact').RefObject<HTMLSpanElement | null>} area
 * @param {unknown} pieces tokens of the sentence
 * @param {boolean} isFree true if words may be wider than their column
 */
function useFittedWords(area, pieces, isFree) {
  const { width } = useSize(area);
  useLayoutEffect(() => {
    for (const one of area.current?.children ?? []) {
      const word = /** @type {HTMLElement} */ (one);
      word.style.fontSize = '';
      if (isFree || word.scrollWidth <= word.clientWidth) continue;
      const size = Number.parseFloat(getComputedStyle(word).fontSize);
      word.style.fontSize = `${Math.max(Math.floor((size * word.clientWidth) / word.scrollWidth), LEAST)}px`;
    }
  }, [width, pieces, isFree]);
}

/** The two answers of a run, the more probable one first. @param {{ side: Side, trace: Trace }} props */
function Answers({ side, trace: { answers, problem, [side]: run } }) {
  const session = useSession();
  const { percent } = session.words.value;
  if (problem === 'noPlace' || problem === 'same') return <span class="answers" />;
  if (problem === 'noAnswer')
    return (
      <span class="answers">
        <i>{run.guess.trim()}</i>
      </span>
    );
  const list = answers.map((word, i) => ({ word, p: run.both[i], own: (side === 'upper' ? 0 : 1) === i }));
  list.sort((a, b) => Number(b.own) - Number(a.own));
  return (
    <span class="answers">
      {list.map(({ word, p, own }, i) => (
        <span key={word}>
          {i > 0 && ', '}
          <i class={own ? 'first' : ''}>{word}</i> {percent(p)}
        </span>
      ))}
    </span>
  );
}
