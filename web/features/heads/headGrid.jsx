// The model as what it is: tokens below, a row of heads for each layer, the guess on top. The line on the left is the
// stream: as wide as the guess would be likely if the model ended there.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { px, signed, useSession } from '../../ui/context.js';
import { namesWithRoom, nameWidth, rowsOf, TILE } from '../../ui/layout.js';
import { later } from '../../ui/lazy.jsx';
import { Menu } from '../../ui/menu.jsx';
import { PALETTE } from '../../ui/palette.js';
import { paintWeights } from '../heatmap/paint.js';
import { useColours } from '../heatmap/useColours.js';
import { shown } from '../prompt/tokens.js';
import { weightsOf } from '../reading/derivation.js';
import { shownTrade } from '../story/shownRoles.js';
import { costsOf } from '../story/steps.js';
import { isOpen } from '../train/lessons.js';
import { isEmpty } from '../views.js';
import { isOff } from '../whatif/edits.js';
import { pointsOf, TryHeads } from './ablation.jsx';
import { findsNothing } from './roles.js';

const HeadsLens = later(() => import('../heatmap/lens.jsx'), 'HeadsLens');

/** The room of the stream on the left. */
export const STREAM = 22;
const WIDEST = 7;

export function Model({ width, height, names = true, letter = 12 }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const about = session.about.value;
  const [under, setUnder] = useState(/** @type {any} */ (null));
  const order = useOrder();
  if (!about) return <section class="model" style={px({ height })} />;
  const { layers, heads } = about;
  const ends = names ? 22 : 0;
  const terms = Object.values(about.terms?.[session.language.value] ?? {});
  // The heads of a single layer stand in several rows, the first on top.
  const { columns, rows, ...sizes } = rowsOf({
    width: width - STREAM,
    height: height - 2 * ends,
    tokens: run ? Math.max(run.T, run.S) : 17,
    layers,
    heads,
    names,
    letter,
    name: names ? Math.max(0, ...terms.map(([name]) => nameWidth(name, letter))) : 0,
  });
  const { size, across, down, spare, words: around } = sizes;
  const named = around !== 'none';
  // The base of the model stands at the base of the picture: what it does not need is free above it.
  const high = Math.min(2 * ends + layers * rows * down - spare, height);
  const rowTop = (layer, head = 0) => ends + (layers - 1 - layer + Math.floor(head / columns)) * down;
  const inside = around === 'both' ? letter + 6 : around === 'trade' ? 2 : Math.max((down - size) / 2, 0);
  const middle = (layer) => rowTop(layer) + ((rows - 1) * down) / 2 + inside + size / 2;
  // Thumbnails that are too small to be read are seen through a lens.
  const tiles = size < TILE;
  const placeOf = (layer, head) => order?.[layer].indexOf(head) ?? head;
  const told = named ? namesTold(session, order, { columns, across, letter }) : null;
  const over = (event) => {
    const name = tiles && event.target.closest?.('[data-head]')?.dataset.head;
    if (!name) return setUnder(null);
    const [layer, head] = name.split('.').map(Number);
    const place = placeOf(layer, head);
    const [x, y] = [STREAM + ((place % columns) + 0.5) * across, rowTop(layer, place) + down / 2];
    setUnder({ layer, head, place, order, x, y });
  };
  const walk = (event) => walkHeads(event, session, order);
  return (
    <section
      class={`model ${isEmpty(run) ? 'blank' : ''}`}
      style={px({ height: high, width, marginTop: height - high })}
      aria-label={words.models}
    >
      <Stream lens={run?.lens} layers={layers} height={high} middle={middle} ends={ends} label={words.stream} />
      {names && about.predicts && !isEmpty(run) && (
        <p class="end out" style={px({ left: STREAM })}>
          {words.out} <i>{run?.top ? shown(run.top[0].text).trim() : ''}</i>
        </p>
      )}
      <div
        role="radiogroup"
        aria-label={words.models}
        onKeyDown={walk}
        onPointerOver={over}
        onPointerLeave={() => setUnder(null)}
        onFocusIn={over}
        onFocusOut={() => setUnder(null)}
      >
        {Array.from({ length: layers }, (_, layer) => (
          <div key={layer}>
            {around === 'both' && (
              <span class="layer-name" style={px({ left: STREAM, top: rowTop(layer) })}>
                {words.layer(layer)}
              </span>
            )}
            {around !== 'both' && named && (
              <span
                class="layer-name beside"
                title={words.layer(layer)}
                style={px({ right: 0, top: middle(layer) - (letter + 3) / 2 })}
              >
                {across - size > 4 * letter ? words.layer(layer) : layer}
              </span>
            )}
            {Array.from({ length: heads }, (_, head) => (
              <Thumbnail
                key={head}
                layer={layer}
                head={head}
                size={size}
                left={STREAM + (placeOf(layer, head) % columns) * across}
                top={rowTop(layer, placeOf(layer, head)) + inside}
                across={across}
                down={layer > 0 ? down : down - spare}
                named={named}
                tells={told?.[layer][placeOf(layer, head)]}
              />
            ))}
          </div>
        ))}
      </div>
      {under && tiles && <HeadsLens at={under} width={width} />}
      {names && <p class="end in">{words.tokensIn}</p>}
      {names && <TryHeads />}
      {names && <Sort />}
    </section>
  );
}

/** Heads by their place, for every layer; null for their own order. While one trains their scores move. */
function useOrder() {
  const session = useSession();
  const { sort, run, ablation, state } = session;
  const [orderOf, setOrderOf] = useState(/** @type {any} */ (null));
  const by = isOpen(state.value) ? 'place' : sort.value;
  useEffect(() => {
    if (by !== 'place' && !orderOf) import('./sortHeads.js').then((module) => setOrderOf(() => module.orderOf));
  }, [by]);
  const done = ablation.value?.tried.length === ablation.value?.total;
  return useMemo(
    () => (by === 'place' || !orderOf || !run.value?.T ? null : orderOf(by, run.value, ablation.value)),
    [by, orderOf, run.value, done && ablation.value],
  );
}

/** By what heads stand in their rows. */
function Sort() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const { heads = 1, edits, predicts } = session.about.value ?? {};
  if (heads < 2 || !run?.T || isOpen(session.state.value) || session.state.value.panel === 'story') return null;
  const scores = Object.keys(words.trades).filter((name) => Number.isFinite(run.scores?.[0]?.[0]?.[name]));
  const ways = ['place', ...(edits && predicts ? ['effect'] : []), ...(run.large ? [] : ['uniform'])];
  const nameOf = (by) => words.sorts[by] ?? words.trades[by];
  return (
    <span class="sort">
      <Menu
        right
        name={`${words.sort}: ${nameOf(session.sort.value)}`}
        label={nameOf(session.sort.value)}
        items={[
          ...[...ways, ...scores].map((by) => ({
            key: by,
            label: nameOf(by),
            chosen: by === session.sort.value,
            act() {
              session.setSort(by);
              if (by === 'effect' && !session.ablation.value) session.runAblation();
            },
          })),
          { key: 'table', label: words.exports.table, act: () => session.update({ panel: 'table' }) },
        ]}
      />
    </span>
  );
}

/** Arrow keys choose the head beside, above and below. */
export function walkHeads(event, session, order = /** @type {number[][] | null} */ (null)) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const state = session.state.value;
  const { layers, heads } = session.about.value;
  const group = event.currentTarget;
  const layer = Math.min(Math.max(state.layer + step[0], 0), layers - 1);
  const place = (order?.[state.layer].indexOf(state.head) ?? state.head) + step[1];
  const within = Math.min(Math.max(place, 0), heads - 1);
  const head = order?.[layer][within] ?? within;
  session.update({ layer, head }, 'head');
  // A head that is folded stands in the drawing once it is chosen.
  requestAnimationFrame(() => group.querySelector(`[data-head='${layer}.${head}']`)?.focus());
}

/** tells: what the head does stands under it, where it is known. */
export function Thumbnail({ layer, head, size, left, top, across, down, named, tells = named }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const run = session.run.value;
  const theme = session.theme.value;
  const trade = shownTrade(session, layer, head);
  const chosen = state.layer === layer && state.head === head;
  const cost = useCosts()?.[`${layer}.${head}`];
  const idle = cost === undefined && findsNothing(trade, run);
  const off = isOff(state, layer, head);
  const canvas = useRef(/** @type {any} */ (null));
  const ramp = useColours({ layer, head });
  useEffect(() => {
    const small = session.pooled.value[`${layer}.${head}`];
    const weights = run && !isEmpty(run) ? weightsOf(run, layer, head) : null;
    const full = !run?.about.causal;
    const paint = (/** @type {Float32Array} */ data, /** @type {number} */ rows, /** @type {number} */ columns) =>
      paintWeights(canvas.current, data, rows, columns, size, full, ramp, PALETTE[theme]);
    if (weights) paint(weights, run.T, run.S);
    else if (run && !isEmpty(run) && small) paint(small.data, small.rows, small.columns);
    // Nothing of another source or text stays.
    else canvas.current.getContext('2d').clearRect(0, 0, canvas.current.width, canvas.current.height);
  }, [run?.weights, run?.large && session.pooled.value[`${layer}.${head}`], theme, size, state.colours]);
  const name = words.headName(layer, head);
  return (
    <button
      type="button"
      role="radio"
      class={`thumbnail ${off ? 'off' : ''}`}
      data-head={`${layer}.${head}`}
      aria-checked={chosen}
      tabIndex={chosen ? 0 : -1}
      aria-label={[
        name,
        trade && (idle ? words.usually(tradeName(session, trade)) : tradeName(session, trade)),
        off && words.isOff,
        cost !== undefined && words.story.points(cost),
      ]
        .filter(Boolean)
        .join(', ')}
      title={name}
      style={px({ left, top, width: Math.max(across - 2, size), height: Math.max(down - (named ? 17 : 2), size) })}
      onClick={() => session.update({ layer, head })}
    >
      <span class="frame" style={px({ width: size, height: size })}>
        <canvas ref={canvas} />
        {off && (
          <svg class="slash" viewBox="0 0 10 10" aria-hidden="true">
            <path d="M0 10L10 0" />
          </svg>
        )}
      </span>
      {(cost !== undefined || (named && tells && trade)) && (
        <span class={`trade ${chosen ? 'chosen' : ''} ${idle ? 'idle' : ''}`} style={px({ width: size, top: size })}>
          {cost === undefined ? tradeName(session, trade) : <span title={words.story.cost}>{signed(cost, 0)}</span>}
        </span>
      )}
    </button>
  );
}

/** Sources whose heads have names of their own bring them along. */
const tradeName = (session, trade) =>
  session.words.value.trades[trade] ?? session.about.value?.terms?.[session.language.value][trade][0];

/** Whether a head's name stands under it, by layer and place: names that would lie over each other are left out. */
function namesTold(session, order, { columns, across, letter }) {
  const { layers, heads } = session.about.value;
  const state = session.state.value;
  return Array.from({ length: layers }, (_, layer) => {
    const headAt = (place) => order?.[layer][place] ?? place;
    const places = Array.from({ length: heads }, (_, place) => place);
    const widths = places.map((place) => {
      const trade = shownTrade(session, layer, headAt(place));
      return nameWidth(trade ? tradeName(session, trade) : '', letter);
    });
    const chosen = layer === state.layer ? places.findIndex((place) => headAt(place) === state.head) : -1;
    const firsts = places.filter((place) => place % columns === 0);
    return firsts.flatMap((i) => namesWithRoom(widths.slice(i, i + columns), across, chosen - i));
  });
}

/** What each head costs, in the story or after all have been tried. */
function useCosts() {
  const session = useSession();
  const { panel, step } = session.state.value;
  return panel === 'story' ? costsOf(step, session.storyLog.value) : pointsOf(session.ablation.value);
}

/** From the tokens up: a piece for every layer, and a mark where it writes. */
function Stream({ lens, layers, height, middle, ends, label }) {
  const wide = (i) => 1.5 + (WIDEST - 1.5) * (lens?.[i] ?? 0);
  const bottom = height - ends;
  const joints = [bottom, ...Array.from({ length: layers }, (_, layer) => middle(layer)), 2];
  return (
    <svg class="stream" width={STREAM} height={height} role="img" aria-label={label}>
      <title>{label}</title>
      {joints.slice(1).map((y, i) => (
        <rect key={i} x={8 - wide(i) / 2} y={y} width={wide(i)} height={Math.max(joints[i] - y, 0)} />
      ))}
      {joints.slice(1, -1).map((y, i) => (
        <path key={i} d={`M8 ${Math.round(y) + 0.5}h8`} />
      ))}
    </svg>
  );
}
