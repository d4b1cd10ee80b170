// The numbers inside a head, from query and key to the weight. The product of one component of the query and one of the
// key is drawn as an area. The visitor moves one side of it after making a prediction.

import { useEffect, useRef } from 'preact/hooks';
import type { Cell, RunWithValues } from '../../drawing/types.ts';
import { readingOf } from '../../model/derivation.ts';
import { plain, weightText } from '../../model/numbers.ts';
import { STEPS } from '../../model/storySteps.ts';
import { numberKey } from '../../model/trial.ts';
import { Bars } from '../../parts/numberBars.tsx';
import { useSession, useTexts } from '../../store/context.ts';
import { hasValues } from '../../store/runParts.ts';
import type { Session } from '../../store/session.ts';
import { reducedMotion } from '../../ui/motion.ts';
import { useSize } from '../../ui/useSize.ts';
import { ShortScore, Strip } from '../reading/feature.ts';
import { strongestPair } from './observations.ts';
import { PairArea } from './pairArea.tsx';
import { saidIn } from './predictions.ts';
import { TEXTS } from './texts.ts';

export { default as styles } from './inside.css';

export type Pair = ReturnType<typeof strongestPair>;

const STEP = STEPS.findIndex(({ inside }) => inside);

/** `row`: true if no other component shows the row of weights. */
export function Inside({ row = false }: { row?: boolean }) {
  const session = useSession();
  const texts = useTexts(TEXTS);
  const run = session.run.value;
  const { cell: kept, trial } = session.state.value;
  const cell = kept ?? session.cell.value;
  const area = useRef(null as HTMLDivElement | null);
  const { width } = useSize(area);
  const bars = area.current?.querySelector('.marked') as HTMLElement | null | undefined;
  if (!cell || !hasValues(run) || cell.s > cell.t || cell.t >= run.T) return <div class="inside" ref={area} />;
  const seen = session.storyLog.value.why;
  const known = seen?.place === [session.state.value.text, run.layer, run.head, cell.t, cell.s].join();
  const pair: Pair = known ? seen.number : strongestPair(run, cell);
  const key = numberKey({ ...run, token: cell.t, index: pair.index });
  return (
    <div class={`inside ${row ? 'in-panel' : ''}`} ref={area}>
      {!row && <h2>{texts.inside(run.layer, run.head)}</h2>}
      <Products run={run} cell={cell} index={pair.index} />
      {width > 0 && (
        <PairArea
          width={width}
          column={bars ? bars.offsetLeft + ((pair.index + 0.5) / run.values.width) * bars.offsetWidth : width / 2}
          pair={pair}
          value={trial[key] ?? pair.query}
          names={{ query: run.pieces[cell.t].name, key: run.pieces[cell.s].name }}
          isReady={saidIn(STEP, 0, session.storyLog.value) !== undefined}
          onInput={(value) => session.update({ trial: value === pair.query ? {} : { [key]: value } }, 'trial')}
          onHold={(held) => hold(session, held)}
        />
      )}
      <Sums run={run} cell={cell} pair={pair} before={known ? seen.base.weight : null} row={row} />
    </div>
  );
}

/** Stores whether the knob is held, because a result is observed only after the knob is released. */
function hold(session: Session, held: boolean) {
  if (!held) session.endGesture();
  session.setStoryLog({ ...session.storyLog.peek(), held });
}

/** Shows query, key and products with one pair marked; an animation, once, moves query and key onto their product. */
function Products({ run, cell, index }: { run: RunWithValues; cell: Cell; index: number }) {
  const session = useSession();
  const words = session.words.value;
  const falls = useRef(!session.productAnimated.peek() && !reducedMotion());
  useEffect(() => {
    session.markProductAnimated();
  }, []);
  const { q, k, product } = readingOf(run, cell);
  return (
    <div
      class={`strips ${falls.current ? 'falls' : ''}`}
      style={{ '--from-left': String(index / q.length), '--share': String(1 / q.length) }}
    >
      <Marked name={words.query} kind="query" values={q} />
      <Marked name={words.key} kind="key" values={k} />
      <div class="product">
        <Marked name={words.product} kind="data" values={product} />
        {falls.current && (
          <div class="ghosts" aria-hidden="true">
            <div class="ghost strip query">
              <Bars kind="query" values={q} mark={-1} />
            </div>
            <div class="ghost strip key">
              <Bars kind="key" values={k} mark={-1} />
            </div>
          </div>
        )}
      </div>
    </div>
  );
}

/** Numbers as pale bars, of which one has its full colour. */
function Marked({ name, kind, values }: { name: string; kind: 'query' | 'key' | 'data'; values: Float32Array }) {
  return (
    <div class={`strip ${kind}`}>
      <span class="name">{name}</span>
      <span class="marked">
        <Bars kind={kind} values={values} />
        <Bars kind={kind} values={values} />
      </span>
    </div>
  );
}

/** Shows the product of the pair, the sum of all products, the score and the weight. */
function Sums({
  run,
  cell,
  pair: { index },
  before,
  row,
}: {
  run: RunWithValues;
  cell: Cell;
  pair: Pair;
  before: number | null;
  row: boolean;
}) {
  const words = useSession().words.value;
  const texts = useTexts(TEXTS);
  const reading = readingOf(run, cell);
  const { q, k, product, sum, weight, weights } = reading;
  const isChanged = before !== null && weightText(before) !== weightText(weight);
  return (
    <div class="sums">
      <p class="times">
        <span class="query">{plain(q[index])}</span> × <span class="key">{plain(k[index])}</span> ={' '}
        <span class="data">{plain(product[index])}</span>
      </p>
      <p class="others">{texts.otherPairs(q.length - 1, plain(sum - product[index]))}</p>
      <p class="sum">
        <ShortScore reading={reading} width={run.values.width} />
      </p>
      <p>
        {texts.weight} <b data-name="story-weight">{weightText(weight)}</b>{' '}
        <small>{isChanged ? texts.was(weightText(before)) : texts.ofWholeRow}</small>
      </p>
      {row && <Strip name={words.softmax} kind="softmax" values={weights} mark={cell.s} />}
    </div>
  );
}
