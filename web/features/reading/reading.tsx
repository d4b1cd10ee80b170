// The computation of the weight that is read. The strips share one grid of columns, so that a product is under its
// factors. In full, each step is written out, and the mixture of all values is shown. Every number comes from the core.

import type { Cell, Run, RunWithValues } from '../../drawing/types.ts';
import { isAhead, readingOf } from '../../model/derivation.ts';
import { plain, signed, sumText, weightText } from '../../model/numbers.ts';
import { linesOf } from '../../model/score.ts';
import { shown } from '../../model/tokens.ts';
import { Title } from '../../parts/cellTitle.tsx';
import { later } from '../../parts/lazy.ts';
import { Bars } from '../../parts/numberBars.tsx';
import { useSession } from '../../store/context.ts';
import { hasValues } from '../../store/runParts.ts';
import { useKeyboardScroll } from '../../ui/useKeyboardScroll.ts';

const RowReading = later(() => import('./rowReading.tsx'), 'RowReading');

import type { ComponentChildren } from 'preact';
export type CellReading = ReturnType<typeof readingOf>;

/** title: the cell's name is above the strips. The other props are for views with their own version of this. */
export function Reading({
  compact = false,
  title = true,
}: {
  compact?: boolean;
  title?: boolean;
  spread?: boolean;
  phone?: boolean;
  wide?: boolean;
}) {
  const session = useSession();
  const words = session.words.value;
  const run: Run | null = session.run.value;
  const cell = session.cell.value;
  const scrolled = useKeyboardScroll();
  const showsValues = hasValues(run) && session.state.value.mean === 'head';
  if (cell && run?.T && !showsValues) return <RowReading run={run} cell={cell} title={title} />;
  if (!cell || !hasValues(run)) return <section class="reading" />;
  const reading = readingOf(run, cell);
  return (
    <section class={`reading ${compact ? 'compact' : ''}`} aria-label={words.how} ref={scrolled}>
      <div class="reading-head">
        {title && <Title run={run} cell={cell} />}
        <InFull />
      </div>
      {isAhead(reading.weight, cell.t, cell.s, !run.about.causal) ? (
        <p class="how">{words.cannot[1]}</p>
      ) : reading.score === Number.NEGATIVE_INFINITY ? (
        <p class="how">{words.cannot[reading.hidden ? 3 : 2]}</p>
      ) : (
        <Strips run={run} cell={cell} reading={reading} inFull={session.inFull.value} />
      )}
    </section>
  );
}

/** The button that shows each step in full or in short. */
function InFull() {
  const session = useSession();
  const words = session.words.value;
  const full = session.inFull.value;
  return (
    <button type="button" class="word in-full" onClick={() => session.setInFull(!full)}>
      {full ? words.inShort : words.inFull}
    </button>
  );
}

function Strips({
  run,
  cell: { t, s },
  reading: r,
  inFull,
}: {
  run: RunWithValues;
  cell: Cell;
  reading: CellReading;
  inFull: boolean;
}) {
  const words = useSession().words.value;
  const { width, patched, scale } = run.values;
  const query = <i class="query">{run.pieces[t].name}</i>;
  const key = <i class="key">{run.keys[s].name}</i>;
  return (
    <>
      <Strip name={words.query} kind="query" values={r.q}>
        {words.queryText[0]} {query} {words.queryText[1]}
        {inFull && words.numbers(width)}
      </Strip>
      <Strip name={words.key} kind="key" values={r.k}>
        {words.keyText[0]} {key} {words.keyText[1]}
      </Strip>
      <Strip name={words.product} kind="data" values={r.product}>
        {inFull ? <Score reading={r} width={width} /> : <ShortScore reading={r} width={width} />}
      </Strip>
      <Strip name={words.softmax} kind="softmax" values={r.weights} mark={s} tall>
        {inFull ? (
          <Softmax reading={r} />
        ) : (
          <>
            {words.ofRow} <b>{weightText(r.weight)}</b>
          </>
        )}
      </Strip>
      <Strip name={words.value} kind="value" values={r.v}>
        {words.gives[0]}
        <b>{words.gives[1] && weightText(r.weight)}</b>
        {words.gives[1]}
        {key}
        {words.gives[2]}
        <b>{!words.gives[1] && weightText(r.weight)}</b>
      </Strip>
      {(inFull || patched || scale === 0) && (
        <Strip name={words.mixture} kind="value" values={r.mixture}>
          <Mixture run={run} others={r.others} /> {query}
        </Strip>
      )}
      <Contribution run={run} t={t} reading={r} />
    </>
  );
}

/** Shows the steps from the dot product to the score, one line for each step of the model. */
function Score({ reading, width }: { reading: CellReading; width: number }) {
  const words = useSession().words.value;
  return linesOf(words.steps, reading, width).map(({ kind, text, figure, last }, i) => (
    <span key={kind} data-step={kind}>
      {i > 0 && <Break>; </Break>}
      {text}
      {figure !== null && words.steps.colon}
      {last && `${words.steps.score} `}
      {figure !== null && <b data-name={last ? 'score' : undefined}>{figure}</b>}
    </span>
  ));
}

/** Shows the steps from the dot product to the score in one line, such as: sum 36.14 ÷ √32 = 6.39 */
export function ShortScore({ reading, width }: { reading: CellReading; width: number }) {
  const words = useSession().words.value;
  const [sum, ...steps] = linesOf(words.steps, reading, width);
  return (
    <>
      {words.steps.short} <b>{sum.figure}</b>
      {steps.map(({ kind, text }) => (
        <span key={kind} data-step={kind}>
          {OPERATOR.test(text) ? ' ' : words.steps.comma}
          {text}
        </span>
      ))}
      {steps.length > 0 && (
        <>
          {' = '}
          <b data-name="score">{steps.at(-1)?.figure}</b>
        </>
      )}
    </>
  );
}
/** Matches the text of a step that continues a formula. */
const OPERATOR = /^[÷×+−]/;

function Softmax({ reading: { sink, score, total, weight } }: { reading: CellReading }) {
  const words = useSession().words.value;
  return (
    <>
      {sink === null ? words.whole : words.wholeAndSink(plain(sink))}
      <Break>: </Break>
      <i>e</i>
      <sup>{plain(score)}</sup> ÷ {sumText(total)} = <b>{weightText(weight)}</b>
    </>
  );
}

/** A line break. On a tablet, where lines are long, its text is shown instead. */
const Break = ({ children }: { children: ComponentChildren }) => <span class="break">{children}</span>;

/** Lists the other values of the mixture, and says where the mixture is written. */
function Mixture({ run, others }: { run: RunWithValues; others: CellReading['others'] }) {
  const words = useSession().words.value;
  if (run.values.patched) return words.writesOther;
  if (run.values.isMean) return words.writesMean;
  if (run.values.scale === 0) return words.writesNot;
  return (
    <>
      <Others run={run} others={others} />
      <Break> </Break>
      {words.writes}
    </>
  );
}

/** Lists the two largest weights of the other keys. */
function Others({ run, others }: { run: Run; others: CellReading['others'] }) {
  const words = useSession().words.value;
  const [first, second, ...rest] = others;
  if (!first) return words.alone;
  return (
    <>
      {words.plus} {weightText(first.w)} {words.of} <i>{run.keys[first.i].name}</i>
      {second && (
        <>
          , {weightText(second.w)} {words.of} <i>{run.keys[second.i].name}</i>
        </>
      )}
      {rest.length > 0 ? ', …' : ''}:
    </>
  );
}

/** Shows the direct logit attribution of the cell. */
function Contribution({ run, t, reading: { adds, label } }: { run: Run; t: number; reading: CellReading }) {
  const words = useSession().words.value;
  if (adds === null || !Number.isFinite(adds) || Number(label.id) < 0) return null;
  return (
    <p class="adds">
      <span>
        {words.adds} <i>{shown(label.text).trim()}</i>
        {t < run.T - 1 && (
          <>
            {words.guessAfter[0]} <i class="query">{run.pieces[t].name}</i>
            {words.guessAfter[1]}
          </>
        )}
      </span>
      <span class="figure-with-unit">
        <b data-name="adds">{signed(adds)}</b> {words.logit}
      </span>
    </p>
  );
}

/** A row of the reading: a name, numbers as bars, and a text about them. */
export function Strip({
  name,
  kind,
  values,
  mark = -1,
  tall = false,
  children,
}: {
  name: string;
  kind: 'query' | 'key' | 'value' | 'data' | 'softmax';
  values: Float32Array;
  /** position of the bar that is emphasized */
  mark?: number;
  tall?: boolean;
  children?: ComponentChildren;
}) {
  return (
    <div class={`strip ${kind} ${tall ? 'tall' : ''}`}>
      <span class="name">{name}</span>
      <Bars kind={kind} values={values} mark={mark} />
      <p>{children}</p>
    </div>
  );
}
