// How the number under the pointer comes about: six strips on one grid of columns, so that a product stands under its
// two factors. Every number is the core's: the strips only lay them out.

import { plain, px, signed, useSession, weightText } from '../../ui/context.js';
import { RAMP } from '../heatmap/colourRamp.js';
import { shown } from '../prompt/tokens.js';
import { Title } from './cellTitle.jsx';
import { isAhead, readingOf } from './derivation.js';
import { RowReading } from './rowReading.jsx';
import { linesOf } from './score.js';

export function Reading({ compact = false, title = true }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const cell = session.cell.value;
  const whole = run?.values && session.state.value.mean === 'head';
  if (cell && run?.T && !whole) return <RowReading title={title} />;
  if (!cell || !run?.values) return <section class="reading" />;
  const { t, s } = cell;
  const [query, key] = [run.pieces[t].name, run.keys[s].name];
  const r = readingOf(run, cell);
  const ahead = isAhead(r.weight, t, s, !run.about.causal);
  const asks = <i class="query">{query}</i>;
  const answers = <i class="key">{key}</i>;
  return (
    <section class={`reading ${compact ? 'compact' : ''}`} aria-label={words.how}>
      {title && <Title run={run} cell={cell} />}
      {ahead ? (
        <p class="how">{words.cannot[1]}</p>
      ) : r.score === Number.NEGATIVE_INFINITY ? (
        <p class="how">{words.cannot[r.hidden ? 3 : 2]}</p>
      ) : (
        <>
          <p class="how">{words.how}</p>
          <Strip name={words.query} kind="query" values={r.q}>
            {words.asks[0]} {asks} {words.asks[1].replace('|n|', String(run.values.width))}
          </Strip>
          <Strip name={words.key} kind="key" values={r.k}>
            {words.answers[0]} {answers} {words.answers[1]}
          </Strip>
          <Strip name={words.product} kind="data" values={r.product}>
            <Score words={words.steps} reading={r} width={run.values.width} />
          </Strip>
          <Strip name={words.softmax} kind="softmax" values={r.weights} mark={s} tall>
            {r.sink === null ? words.whole : words.wholeAndSink(plain(r.sink))}
            <Break>: </Break>
            <i>e</i>
            <sup>{plain(r.score)}</sup> ÷ {amount(r.total)} = <b>{weightText(r.weight)}</b>
          </Strip>
          <Strip name={words.value} kind="value" values={r.v}>
            {weightText(r.weight)} {words.gives[0]} {answers} {words.gives[1]}
          </Strip>
          <Strip name={words.mixture} kind="value" values={r.mixture}>
            {run.values.patched ? (
              words.writesOther
            ) : run.values.scale === 0 ? (
              words.writesNot
            ) : (
              <>
                <Others words={words} run={run} others={r.others} />
                <Break> </Break>
                {words.writes}
              </>
            )}{' '}
            {asks}
          </Strip>
          {Number.isFinite(r.adds) && r.label.id >= 0 && (
            <p class="adds">
              <span>
                {words.adds} <i>{shown(r.label.text).trim()}</i>
                {t < run.T - 1 && (
                  <>
                    {words.guessAfter[0]} <i class="query">{query}</i>
                    {words.guessAfter[1]}
                  </>
                )}
              </span>
              <b data-name="adds">{signed(r.adds)}</b>
            </p>
          )}
        </>
      )}
    </section>
  );
}

/** From the product to the score: a line for each step of the model. */
function Score({ words, reading, width }) {
  return linesOf(words, reading, width).map(({ kind, text, figure, last }, i) => (
    <span key={kind} data-step={kind}>
      {i > 0 && <Break>; </Break>}
      {text}
      {figure !== null && words.colon}
      {last && `${words.score} `}
      {figure !== null && <b data-name={last ? 'score' : undefined}>{figure}</b>}
    </span>
  ));
}

/** A line ends, or goes on with a sign where it is long enough. */
const Break = ({ children }) => <span class="break">{children}</span>;

function Others({ words, run, others }) {
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

const amount = (x) => (x >= 1e5 || x < 0.01 ? x.toExponential(2).replace('e+', 'e') : plain(x, x < 100 ? 2 : 1));

/** Numbers as bars; weights, which are never below 0, stand on a line. */
export function Strip({ name, kind, values, mark = -1, tall = false, children }) {
  return (
    <div class={`strip ${kind} ${tall ? 'tall' : ''}`}>
      <span class="name">{name}</span>
      <Bars kind={kind} values={values} mark={mark} />
      <p>{children}</p>
    </div>
  );
}

const WIDE = 200;
const HIGH = 40;

export function Bars({ kind, values, mark }) {
  const theme = useSession().theme.value;
  const n = values.length;
  const up = kind === 'softmax';
  let most = up ? 1 : 1e-9;
  for (const x of values) if (Math.abs(x) > most) most = Math.abs(x);
  const [pitch, zero] = [WIDE / n, up ? HIGH : HIGH / 2];
  const room = Math.min(pitch * 0.12, 1.2);
  const path = (list) =>
    list
      .map(([x, i]) => {
        if (x === 0 || !Number.isFinite(x)) return '';
        const tall = (x / most) * zero;
        const high = Math.abs(tall) < 0.6 ? Math.sign(tall) * 0.6 || 0.6 : tall;
        const [left, wide] = [i * pitch + room / 2, pitch - room].map((x) => x.toFixed(2));
        return `M${left} ${zero}h${wide}v${(-high).toFixed(2)}h-${wide}z`;
      })
      .join('');
  const all = Array.from(values, (x, i) => [x, i]);
  return (
    <svg class="bars" viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="line" d={`M0 ${up ? HIGH - 0.5 : zero}H${WIDE}`} />
      {up ? (
        all
          .filter(([x]) => x >= 0.004)
          .map(([x, i]) => (
            <path key={i} d={path([[x, i]])} style={px({ fill: RAMP[theme].css(i === mark ? Math.max(x, 0.3) : x) })} />
          ))
      ) : (
        <path d={path(all)} />
      )}
    </svg>
  );
}
