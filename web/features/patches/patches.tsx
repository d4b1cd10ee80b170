// An image as the model reads it, patch by patch, and the same patches with the weights of the query patch. Both are
// large in the place of the heatmap, and small above the matrix and the lines.

import type { Run } from '../../drawing/types.ts';
import { isOff } from '../../model/modelEdits.ts';
import { HeadTitle } from '../../parts/headTitle.tsx';
import { useSession } from '../../store/context.ts';
import { gridOf, patchesOf } from '../../ui/layout.ts';
import { useLengths } from '../../ui/lengths.ts';
import { px } from '../../ui/px.ts';
import { keyWithMaxWeight, Pane, type PatchGrid } from './pane.tsx';
import { patches as inEnglish } from './patches.en.ts';
import { patches as inChinese } from './patches.zh.ts';

export { default as styles } from './patches.css';

const SMALL_HEIGHT = 62;
const TEXTS = { en: inEnglish, zh: inChinese };

export function PatchPicture({ width, height, compact = false }: { width: number; height: number; compact?: boolean }) {
  const session = useSession();
  const lengths = useLengths();
  const run: Run | null = session.run.value;
  const state = session.state.value;
  if (!run?.image || width <= 0) return <div class="picture" style={px({ height })} />;
  const grid = gridOf(run);
  const { size, titled, split, width: panesWidth } = patchesOf({ width, height, ...grid }, lengths);
  const off = isOff(state, state.layer, state.head);
  const title = { run, above: titled, x: 0, y: 0, matrixWidth: titled ? width : width - panesWidth };
  return (
    <div class={`patches large ${off ? 'off' : ''}`} style={px({ height })}>
      <div class={titled ? 'patches-title' : 'patches-beside'}>
        <HeadTitle picture={title} compact={compact} />
      </div>
      <Panes run={run} grid={grid} size={size} split={split} lineWidth={titled && !split ? width : undefined} />
    </div>
  );
}

/** The image and its weights, each under a line of text. */
function Panes({
  run,
  grid,
  size,
  split,
  lineWidth,
}: {
  run: Run;
  grid: PatchGrid;
  /** side of a patch in CSS pixels */
  size: number;
  split: boolean;
  /** width of the texts, if it is not the width of the image */
  lineWidth: number | undefined;
}) {
  const session = useSession();
  const cell = session.cell.value;
  const own = TEXTS[session.language.value as 'en' | 'zh'];
  const query = cell && <b class="query">{run.pieces[cell.t].name}</b>;
  const line = px({ width: lineWidth });
  const pane = px({ width: size * grid.columns });
  // The tokens that are not patches, without the query.
  const others = run.pieces.slice(0, grid.before).filter((_, t) => t !== cell?.t);
  const setQuery = (name: string) => {
    const t = run.pieces.findIndex((piece) => piece.name === name);
    session.look({ cell: { t, s: keyWithMaxWeight(run, t) } });
  };
  return (
    <div class={`patches-panes ${split ? 'split' : ''}`}>
      <div style={pane}>
        <p style={line}>
          {query} {own.isQuery} {others.length === 0 && own.point}
          {others.map(({ name }) => (
            <button key={name} type="button" class="word" onClick={() => setQuery(name)}>
              {own.ask(name)}
            </button>
          ))}
        </p>
        <Pane run={run} grid={grid} size={size} own={own} isImage />
      </div>
      <div style={pane}>
        <p style={line}>
          {own.weights[0]} {query} {own.weights[1]}
        </p>
        <Pane run={run} grid={grid} size={size} own={own} />
      </div>
    </div>
  );
}

/** The small image and its weights, as high as one and a half lines of text. */
export function Patches() {
  const session = useSession();
  const own = TEXTS[session.language.value as 'en' | 'zh'];
  const run = session.run.value;
  if (!run) return null;
  const grid = gridOf(run);
  const size = Math.max(Math.floor(SMALL_HEIGHT / grid.rows), 1);
  return (
    <div class="patches small">
      <Pane run={run} grid={grid} size={size} own={own} isImage isSmall />
      <Pane run={run} grid={grid} size={size} own={own} isSmall />
    </div>
  );
}
