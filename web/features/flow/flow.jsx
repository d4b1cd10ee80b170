// Flow: the model grows over the picture's place. What each part adds to the chosen next token flows into it, and lines
// say which head feeds whose queries, keys and values. flowLayout.js says where everything stands.

import { px, signed, useSession } from '../../ui/context.js';
import { PALETTE } from '../../ui/palette.js';
import { Thumbnail, walkHeads } from '../heads/headGrid.jsx';
import { RAMP } from '../heatmap/colourRamp.js';
import { shown as shownToken } from '../prompt/tokens.js';
import { weightsOf } from '../reading/derivation.js';
import { attendedBy, feetOf, flowOf, isSlanted } from './flowLayout.js';

export { default as styles } from './flow.css';

/** What stands above the ribbons and below the rows, and where layers are named. */
const TOP = 54;
const FEET = 48;
const SIDE = 76;
const COLOURS = /** @type {const} */ ({ q: 'query', k: 'key', v: 'value' });

export const sameFeed = (a, b) =>
  a.kind === b.kind &&
  a.from.layer === b.from.layer &&
  a.from.head === b.from.head &&
  a.to.layer === b.to.layer &&
  a.to.head === b.to.head;

/** The drawing, or null before there is a run. */
function useFlow({ width, height, compact }) {
  const session = useSession();
  const run = session.run.value;
  const { hide, layer, head } = session.state.value;
  if (!run?.added || width <= 0 || height <= 0) return null;
  const found = session.composition.value;
  const feeds = found && found.layer === layer && found.head === head ? found.feeds : [];
  const { layers, heads } = run.about;
  const flow = flowOf({
    width,
    height,
    top: TOP,
    side: compact ? 30 : SIDE,
    feet: FEET,
    layers,
    heads,
    tokens: run.T,
    mlps: run.about.mlps,
    added: run.added,
    hide,
    chosen: { layer, head },
    feeds,
  });
  return { ...flow, run, width, height, side: compact ? 30 : SIDE };
}

export function Flow({ width, height, compact = false }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const narrow = width < 620;
  const flow = useFlow({ width, height, compact: narrow });
  if (!flow)
    return (
      <div class="flow" style={px({ height })}>
        {session.run.value && <p class="no-flow">{words.flow.cannot}</p>}
      </div>
    );
  const { run, parts, size, rows, target } = flow;
  const { heads, layers } = run.about;
  const walk = (event) => walkHeads(event, session);
  const fed = new Set(flow.lines.flatMap(({ from, to }) => [from, to].map(({ layer, head }) => `${layer}.${head}`)));
  return (
    <section class={`flow ${narrow ? 'narrow' : ''}`} style={px({ height, width })} aria-label={words.flow.title}>
      <Head flow={flow} narrow={narrow} compact={compact} />
      <Drawing flow={flow} />
      {rows.map(({ y }, layer) => (
        <Layer key={layer} layer={layer} y={y} size={size} narrow={narrow} dense={size < 30} early={run.early} />
      ))}
      <div role="radiogroup" aria-label={words.models} onKeyDown={walk}>
        {parts
          .filter(({ kind }) => kind === 'head')
          .map((part) => {
            const quiet =
              !part.shown &&
              !fed.has(`${part.layer}.${part.head}`) &&
              !(part.layer === state.layer && part.head === state.head);
            return (
              <div key={`${part.layer}.${part.head}`} class={quiet ? 'quiet' : ''}>
                <Thumbnail
                  layer={part.layer}
                  head={part.head}
                  size={size}
                  left={part.x}
                  top={part.y}
                  across={size}
                  down={size}
                  named={false}
                />
              </div>
            );
          })}
      </div>
      {parts
        .filter(({ kind }) => kind === 'mlp' || kind === 'rest')
        .map((part) => (
          <Piece key={`${part.kind}${part.layer}`} part={part} narrow={narrow} />
        ))}
      {parts
        .filter((part) => part.shown && part.kind !== 'embed' && size >= 16)
        .map((part) => (
          <Amount key={`${part.kind}${part.layer}.${part.head}`} part={part} flow={flow} />
        ))}
      <Feet flow={flow} />
      <p class="spoken">{words.flow.about(layers, heads)}</p>
      {target.width === 0 && <p class="no-flow">{words.flow.nothing}</p>}
    </section>
  );
}

/** The title, and the next token, into which everything flows, with those that one may follow instead. */
function Head({ flow: { run, target, width }, narrow, compact }) {
  const session = useSession();
  const words = session.words.value;
  const { chosen, top, pieces } = run;
  const p = top.find(({ id }) => id === chosen.id)?.now;
  const others = narrow ? [] : top.filter(({ id }) => id !== chosen.id).slice(0, 4);
  const left = target.x < 0.46 * width;
  const room = left ? width - target.x : target.x;
  return (
    <div class="flow-head">
      {!narrow && room > 420 && (
        <div class={`flow-title ${left ? 'right-side' : ''}`} style={px({ maxWidth: room - 130 })}>
          <h2>{words.flow.title}</h2>
          {!compact && (
            <p>
              {words.flow.rises[0]} <i class="query">{pieces.at(-1).name}</i>
              {words.flow.rises[1]} <i>{shownToken(chosen.text).trim()}</i>
              {words.flow.rises[2]}
            </p>
          )}
        </div>
      )}
      <div class="flow-target" style={px({ left: Math.min(Math.max(target.x, 70), width - 70) })}>
        <i>{shownToken(chosen.text).trim() || '␣'}</i> <span data-name="probability">{words.percent(p)}</span>
      </div>
      <ul
        class={`flow-others ${left || target.x < width - 330 ? '' : 'left-side'}`}
        style={px(
          left || target.x < width - 330 ? { left: Math.max(target.x + 84, 160) } : { right: width - target.x + 84 },
        )}
      >
        {others.map(({ id, text, now }) => (
          <li key={id}>
            <button
              type="button"
              class="word"
              title={words.flow.follow(shownToken(text).trim())}
              onClick={() => session.update({ token: id === top[0].id ? null : id })}
            >
              <i>{shownToken(text).trim() || '␣'}</i> {words.percent(now)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Drawing({ flow }) {
  const session = useSession();
  const theme = session.theme.value;
  const picked = session.picked.value;
  const state = session.state.value;
  const { ribbons, lines, parts, scale, width, height, run } = flow;
  const most = Math.max(...ribbons.map(({ value }) => value), 1e-9);
  const sum = Math.max(run.added.sum, most);
  const colour = (part) =>
    part.kind === 'rest' ? PALETTE[theme].ink3 : RAMP[theme].css(Math.min(Math.max(part.value / sum, 0.22), 0.9));
  return (
    <svg class="flow-drawing" width={width} height={height} aria-hidden="true">
      {ribbons.map((ribbon) => (
        <path
          key={`${ribbon.kind}${ribbon.layer}.${ribbon.head}`}
          class={`ribbon ${isPicked(ribbon, picked, state) ? 'picked' : ''}`}
          data-part={nameOf(ribbon)}
          d={ribbon.d}
          fill={colour(ribbon)}
          onClick={() => pick(session, ribbon)}
        />
      ))}
      {parts
        .filter(({ shown, value }) => shown && value < 0)
        .map((part) => (
          <rect
            key={`${part.kind}${part.layer}.${part.head}`}
            class="against"
            data-part={nameOf(part)}
            x={part.kind === 'embed' ? part.x - 3 : part.x + part.width / 2 - Math.max(-part.value * scale, 1.5) / 2}
            y={part.y - 12}
            width={Math.max(-part.value * scale, 1.5)}
            height={9}
            onClick={() => pick(session, part)}
          />
        ))}
      <Attended flow={flow} />
      {lines.map((line) => {
        const on = picked?.kind === 'line' && sameFeed(picked.feed, line);
        const key = `${line.from.layer}.${line.from.head}-${line.to.layer}.${line.to.head}${line.kind}`;
        return (
          <g key={key} class={`feed ${COLOURS[line.kind]} ${on ? 'picked' : ''}`}>
            <path class="halo" d={line.d} stroke-width={line.width + 3} />
            <path class="line" d={line.d} stroke-width={line.width} />
            <path
              class="touch"
              data-line={key}
              d={line.d}
              onClick={() => session.pick(on ? null : { kind: 'line', feed: line })}
            />
          </g>
        );
      })}
    </svg>
  );
}

/** What the chosen head gives the last token comes from these tokens. */
function Attended({ flow }) {
  const session = useSession();
  const { layer, head } = session.state.value;
  const ramp = RAMP[session.theme.value];
  const { run } = flow;
  const row = weightsOf(run, run.layer, run.head).subarray((run.T - 1) * run.T, run.T * run.T);
  return (
    <g class="attended">
      {attendedBy(flow, { layer, head }, row, FEET).map(({ s, d, width }) => (
        <path key={s} d={d} stroke={ramp.css(Math.max(row[s], 0.2))} stroke-width={width} />
      ))}
    </g>
  );
}

const nameOf = ({ kind, layer, head }) => `${kind}${layer}${head < 0 ? '' : `.${head}`}`;
const isPicked = (part, picked, state) =>
  picked
    ? picked.kind === part.kind && picked.layer === part.layer
    : part.kind === 'head' && part.layer === state.layer && part.head === state.head;

/** A ribbon is read: that of a head by choosing the head. */
export function pick(session, { kind, layer, head }) {
  if (kind === 'head') {
    session.update({ layer, head }, 'head');
    session.pick(null);
  } else session.pick({ kind, layer });
}

/** The layer's name, and what would come next if the model ended with it. */
function Layer({ layer, y, size, narrow, dense, early }) {
  const session = useSession();
  const words = session.words.value;
  const guess = early?.[layer + 1];
  return (
    <div class="flow-layer" style={px({ top: y, height: size })}>
      <span class="serif-name">{narrow || dense ? layer : words.layer(layer)}</span>
      {!narrow && !dense && guess && (
        <span class="early" title={words.lensAbout(layer)}>
          {words.flow.wouldGuess}
          <br />
          <q>{shownToken(guess.text).trim() || '␣'}</q> {words.percent(guess.probability)}
        </span>
      )}
    </div>
  );
}

/** A feed-forward part, or the heads that are folded. */
function Piece({ part, narrow }) {
  const session = useSession();
  const words = session.words.value;
  const picked = session.picked.value;
  const on = picked?.kind === part.kind && picked.layer === part.layer;
  const mlp = part.kind === 'mlp';
  const label = mlp ? words.flow.mlp(part.layer) : words.flow.rest(part.heads.length, part.layer);
  return (
    <button
      type="button"
      class={`flow-piece ${part.shown ? '' : 'quiet'}`}
      data-part={nameOf(part)}
      aria-pressed={on}
      aria-label={`${label}, ${signed(part.value)}`}
      title={label}
      style={px({ left: part.x, top: part.y, width: part.width, height: part.height })}
      onClick={() => session.pick(on ? null : { kind: part.kind, layer: part.layer })}
    >
      {part.height >= 16 && (
        <span>{mlp ? (narrow ? words.flow.mlpTiny : words.flow.mlpShort) : `+${part.heads.length}`}</span>
      )}
    </button>
  );
}

/** How much a part adds, above it. */
function Amount({ part, flow }) {
  const { scale, toRight, pitch } = flow;
  const half = part.value < 0 ? Math.max(-part.value * scale, 1.5) / 2 : Math.max(part.value * scale, 1) / 2;
  const right = toRight(part);
  const middle = part.x + part.width / 2;
  const beside = right ? { right: flow.width - (middle - half - 3) } : { left: middle + half + 3 };
  if (pitch < 60 && Math.abs(part.value) < 1) return null;
  return (
    <span
      class={`amount ${part.value > 0.5 ? 'much' : ''}`}
      style={px({ ...beside, top: part.y - 18 })}
      aria-hidden="true"
    >
      {signed(part.value)}
    </span>
  );
}

/** The tokens: all, or those that the chosen head looks at where there is no room for all. */
function Feet({ flow }) {
  const { run, height } = flow;
  const row = weightsOf(run, run.layer, run.head).subarray((run.T - 1) * run.T, run.T * run.T);
  return (
    <div class={`flow-feet ${isSlanted(flow) ? 'slant' : ''}`} aria-hidden="true">
      {feetOf(flow, row).map(({ s, x }, _, all) => (
        <span
          key={s}
          class={s === run.T - 1 ? 'query' : ''}
          style={px({ left: x, top: height - 24, maxWidth: isSlanted(flow) ? undefined : flow.width / all.length })}
        >
          {run.pieces[s].name}
        </span>
      ))}
    </div>
  );
}

/** Instead of the ramp: what colours say. */
export function FlowMarks() {
  const words = useSession().words.value;
  return (
    <>
      <span class="feeds-label">{words.flow.feeds}</span>
      {Object.entries(COLOURS).map(([kind, name]) => (
        <span key={kind} class={`sample feed ${name}`}>
          <svg viewBox="0 0 22 10" aria-hidden="true" class="wide-sample">
            <path class="line" d="M0 5H22" stroke-width="3" />
          </svg>
          {words[name]}
        </span>
      ))}
      <span class="sample">
        <svg viewBox="0 0 6 10" aria-hidden="true" class="against-sample">
          <rect class="against" width="5" height="10" />
        </svg>
        {words.flow.against}
      </span>
    </>
  );
}
