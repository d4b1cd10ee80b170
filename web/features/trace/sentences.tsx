// The two sentences as the header of the grid. Each column has one token, and the answer of each run is on the right.

import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { type Column, differsIn } from '../../model/trace/alignWords.ts';
import type { Trace } from '../../model/trace/places.ts';
import { useSession } from '../../store/context.ts';
import { useSize } from '../../ui/useSize.ts';
import { MAX_COLUMNS } from './traceLayout.ts';
import { textsIn, writeSentence } from './traceState.ts';
export type Side = 'upper' | 'lower';
export type Shared = {
  trace: Trace | null;
  writing: 'upper' | 'lower' | 'words' | null;
  setWriting: (what: 'upper' | 'lower' | 'words' | null) => void;
};

export function Sentences({ trace, writing, setWriting, narrow }: Shared & { narrow: boolean }) {
  return (
    <div class="trace-sentences">
      {(['upper', 'lower'] as Side[]).map((side) => (
        <Row key={side} side={side} trace={trace} narrow={narrow} writing={writing === side} setWriting={setWriting} />
      ))}
    </div>
  );
}

function Row({
  side,
  trace,
  writing,
  setWriting,
  narrow,
}: Omit<Shared, 'writing'> & { side: Side; writing: boolean; narrow: boolean }) {
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

function Field({ side, sentence, close }: { side: Side; sentence: string; close: () => void }) {
  const session = useSession();
  const own = textsIn(session);
  const field = useRef(null as HTMLInputElement | null);
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

/** The tokens of a sentence. Tokens before the first word that differs are one text; every later token has a column. */
function Tokens({ side, trace, narrow }: { side: Side; trace: Trace; narrow: boolean }) {
  const { columns, first, upper, lower } = trace;
  const pieces = trace[side].pieces;
  const indexOf = (column: Column) => (side === 'upper' ? column.from : column.into);
  const differs = differsIn(upper.pieces, lower.pieces);
  const bare = columns.slice(0, first).map((column) => pieces[indexOf(column)]);
  const others = columns.slice(first);
  const dense = others.length > MAX_COLUMNS;
  const area = useRef(null as HTMLSpanElement | null);
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

/** Writes words wider than their column in smaller letters. `isFree`: words may be wider than it. */
function useFittedWords(area: RefObject<HTMLSpanElement | null>, pieces: unknown, isFree: boolean) {
  const { width } = useSize(area);
  useLayoutEffect(() => {
    for (const one of area.current?.children ?? []) {
      const word = one as HTMLElement;
      word.style.fontSize = '';
      if (isFree || word.scrollWidth <= word.clientWidth) continue;
      const size = Number.parseFloat(getComputedStyle(word).fontSize);
      word.style.fontSize = `${Math.max(Math.floor((size * word.clientWidth) / word.scrollWidth), LEAST)}px`;
    }
  }, [width, pieces, isFree]);
}

/** The two answers of a run, the more probable one first. */
function Answers({ side, trace: { answers, problem, [side]: run } }: { side: Side; trace: Trace }) {
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
