// A drawing of what a trace shows, next to the list of questions: the two sentences of a pair, and a grid in which the
// answer goes from the word that differs to the last word.

import type { Pair } from '../../model/trace/tasks.ts';
import { useSession } from '../../store/context.ts';
import { type Texts, textsIn } from './traceState.ts';

/** The number of layers of the drawing, and the layer from which the last word has the answer. */
const [LAYERS, MOVED] = [5, 3];
/** Width and height of a cell, and the gap between cells. */
const [WIDTH, HEIGHT, GAP] = [52, 26, 2];

const wordsOf = (text: string) => text.trim().split(/\s+/);

export function Example({ pair: { upper, lower, answers }, measure }: { pair: Pair; measure: () => void }) {
  const own = textsIn(useSession());
  const words = [upper, lower].map(wordsOf);
  const differs = words[0].findIndex((word, i) => word !== words[1][i]);
  return (
    <div class="trace-example">
      <h3>{own.example}</h3>
      {words.map((list, row) => (
        <p key={row} class="example-sentence" lang="en">
          <span class="side">{row === 0 ? own.upper : own.lower}</span>
          <span>
            {list.map((word, i) => (
              <span key={i}>
                <span class={i === differs ? 'differs' : ''}>{word}</span>{' '}
              </span>
            ))}
            <i>{answers[row]}</i>
          </span>
        </p>
      ))}
      <Grid own={own} />
      <p>{own.exampleAbout}</p>
      <button type="button" class="word strong" onClick={measure}>
        {own.measure1}
      </button>
    </div>
  );
}

/** The grid: dark cells under the word that differs, then under the last word. */
function Grid({ own }: { own: Texts }) {
  const columns = 5;
  const last = columns - 1;
  const yOf = (layer: number) => (LAYERS - 1 - layer) * HEIGHT;
  const isDark = (column: number, layer: number) =>
    (column === 0 && layer < MOVED) || (column === last && layer >= MOVED);
  const y = yOf(MOVED) + HEIGHT - GAP / 2;
  return (
    <div class="example-grid" aria-hidden="true">
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${columns * WIDTH} ${LAYERS * HEIGHT}`}
        width={columns * WIDTH}
        height={LAYERS * HEIGHT}
      >
        {Array.from({ length: LAYERS * columns }, (_, i) => {
          const [layer, column] = [Math.floor(i / columns), i % columns];
          return (
            <rect
              key={i}
              class={isDark(column, layer) ? 'dark' : ''}
              x={column * WIDTH}
              y={yOf(layer)}
              width={WIDTH - GAP}
              height={HEIGHT - GAP}
            />
          );
        })}
        <path class="move" d={`M${WIDTH + 4} ${y}H${last * WIDTH - 8}m-7 -5l7 5l-7 5`} />
      </svg>
      <ul style={{ height: `${LAYERS * HEIGHT}px` }}>
        <li>{own.exampleHigh}</li>
        <li>{own.exampleMoved}</li>
        <li>{own.exampleLow}</li>
      </ul>
    </div>
  );
}
