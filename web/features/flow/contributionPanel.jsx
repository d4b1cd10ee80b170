// The reading column in flow: what adds to the next token and what takes away, the sum, and of what the chosen part is
// made.

import { plain, px, signed, useSession, weightText } from '../../ui/context.js';
import { TryHeads } from '../heads/ablation.jsx';
import { shown as shownToken } from '../prompt/tokens.js';
import { readingOf, weightsOf } from '../reading/derivation.js';
import { actingThrough, partsAdding } from './contributions.js';
import { pick, sameFeed } from './flow.jsx';

export { default as styles } from './contributionPanel.css';

const COLOURS = /** @type {const} */ ({ q: 'query', k: 'key', v: 'value' });

export function Adds({ compact = false, title = true }) {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const { hide } = session.state.value;
  if (!run?.added) return <section class="adding" />;
  const { positive, negative, others, most } = partsAdding(run.added, run.about, { hide, count: compact ? 6 : 9 });
  const p = run.top.find(({ id }) => id === run.chosen.id)?.now;
  const token = shownToken(run.chosen.text).trim();
  const list = (parts, kind) => (
    <ul class={kind}>
      {parts.map((part) => (
        <Row key={`${part.kind}${part.layer}.${part.head}`} part={part} most={most} />
      ))}
    </ul>
  );
  return (
    <section class={`adding ${compact ? 'compact' : ''}`} aria-label={words.flow.adds(token)}>
      {title && <Made />}
      <h3>
        {words.flow.addsTo[0]} <i>{token}</i>
        {words.flow.addsTo[1]}
      </h3>
      {list(positive, 'for')}
      {negative.length > 0 && <h3>{words.flow.takes}</h3>}
      {list(negative, 'against-it')}
      <dl class="sum">
        {others.count > 0 && (
          <div>
            <dt>{words.flow.others(others.count)}</dt>
            <dd>{signed(others.value)}</dd>
          </div>
        )}
        <div class="total">
          <dt>{words.flow.logit(words.percent(p))}</dt>
          <dd data-name="logit">{plain(run.added.sum)}</dd>
        </div>
      </dl>
      <Through />
      <TryHeads />
    </section>
  );
}

/** Heads in the list of those that act through others. */
const LISTED = 3;

/** What adds little by itself and is needed all the same: known once every head has been tried. */
function Through() {
  const session = useSession();
  const words = session.words.value;
  const run = session.run.value;
  const found = session.ablation.value;
  if (!found) return run.about.edits && run.about.predicts ? <p class="how">{words.flow.tryThem}</p> : null;
  const heads = actingThrough(found, run.added, run.about).slice(0, LISTED);
  if (heads.length === 0) return null;
  return (
    <>
      <h3 title={words.flow.throughAbout}>{words.flow.through}</h3>
      <ul class="against-it">
        {heads.map(({ layer, head, change }) => (
          <li key={`${layer}.${head}`}>
            <button type="button" onClick={() => pick(session, { kind: 'head', layer, head })}>
              <span>{words.headName(layer, head)}</span>
              <span class="track">
                <span class="bar" style={px({ width: `${-100 * change}%` })} />
              </span>
              <b>
                {signed(100 * change, 0)} {words.flow.points}
              </b>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What a part is called. */
export function partName(words, { kind, layer, head, heads }) {
  if (kind === 'head') return words.headName(layer, head);
  if (kind === 'mlp') return words.flow.mlp(layer);
  if (kind === 'embed') return words.flow.embed;
  if (kind === 'rest') return words.flow.rest(heads?.length ?? 0, layer);
  return words.flow.bias;
}

function Row({ part, most }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const picked = session.picked.value;
  const chosen = picked
    ? picked.kind === part.kind && picked.layer === part.layer
    : part.kind === 'head' && part.layer === state.layer && part.head === state.head;
  return (
    <li>
      <button type="button" aria-pressed={chosen} data-part={part.kind} onClick={() => pick(session, part)}>
        <span>{partName(words, part)}</span>
        <span class="track">
          <span class="bar" style={px({ width: `${(100 * Math.abs(part.value)) / most}%` })} />
        </span>
        <b>{signed(part.value)}</b>
      </button>
    </li>
  );
}

/** What is chosen, and of what it is made. */
function Made() {
  const session = useSession();
  const words = session.words.value;
  const picked = session.picked.value;
  const run = session.run.value;
  if (picked?.kind === 'line') return <OfLine feed={picked.feed} />;
  if (picked)
    return (
      <div class="made">
        <h2 class="title">{partName(words, { ...picked, head: -1 })}</h2>
        <p class="how">{words.flow.made[picked.kind]}</p>
      </div>
    );
  return <OfHead run={run} />;
}

/** A head: what it takes from every token for the last one. */
function OfHead({ run }) {
  const session = useSession();
  const words = session.words.value;
  const trade = session.roles.value?.[run.layer]?.[run.head];
  const value = run.added.heads[run.layer * run.about.heads + run.head];
  const t = run.T - 1;
  const weights = weightsOf(run, run.layer, run.head).subarray(t * run.T, run.T * run.T);
  const parts = Array.from(weights, (weight, s) => ({ s, weight, adds: readingOf(run, { t, s }).adds }))
    .filter(({ weight, adds }) => weight > 0 && Number.isFinite(adds))
    .sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  const [first, rest] = [parts.slice(0, 3), parts.slice(3)];
  return (
    <div class="made">
      <h2 class="title">{words.headName(run.layer, run.head)}</h2>
      <p class="how">{trade ? words.does[trade] : words.doesNot}</p>
      <table>
        <caption>
          {words.flow.madeOf} <b>{signed(value)}</b>
        </caption>
        <tbody>
          {first.map(({ s, weight, adds }) => (
            <tr key={s}>
              <th scope="row">
                <i>{run.pieces[s].name}</i>
              </th>
              <td>{words.flow.weighed(weightText(weight))}</td>
              <td>
                <b>{signed(adds)}</b>
              </td>
            </tr>
          ))}
          {rest.length > 0 && (
            <tr>
              <th scope="row">{words.flow.otherTokens(rest.length)}</th>
              <td />
              <td>{signed(rest.reduce((sum, { adds }) => sum + adds, 0))}</td>
            </tr>
          )}
        </tbody>
      </table>
      <Neighbours />
    </div>
  );
}

/** Heads that feed this one, and that it feeds: the lines, as a list. */
function Neighbours() {
  const session = useSession();
  const words = session.words.value;
  const { layer, head, hide } = session.state.value;
  const found = session.composition.value;
  if (!found || found.layer !== layer || found.head !== head) return null;
  const strong = found.feeds.filter(({ value }) => value >= hide).sort((a, b) => b.value - a.value);
  if (strong.length === 0) return null;
  return (
    <>
      <p class="how lines-about">{words.flow.linesAbout}</p>
      <ul class="neighbours" aria-label={words.flow.linesOf}>
        {strong.slice(0, 4).map((feed) => {
          const below = feed.to.layer === layer && feed.to.head === head;
          const other = below ? feed.from : feed.to;
          return (
            <li key={JSON.stringify(feed)}>
              <button type="button" onClick={() => session.pick({ kind: 'line', feed })}>
                <span class={`dash ${COLOURS[feed.kind]}`} />
                <span>
                  {below
                    ? words.flow.fedBy(words[COLOURS[feed.kind]], words.flow.shortHead(other.layer, other.head))
                    : words.flow.feedsIts(words[COLOURS[feed.kind]], words.flow.shortHead(other.layer, other.head))}
                </span>
                <b>{feed.value.toFixed(2)}</b>
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** A line: how much of what one head writes another reads. */
function OfLine({ feed }) {
  const session = useSession();
  const words = session.words.value;
  const all = (session.composition.value?.feeds ?? []).filter((other) => sameFeed({ ...other, kind: feed.kind }, feed));
  const name = ({ layer, head }) => words.headInText(layer, head);
  return (
    <div class="made">
      <h2 class="title">
        <span class="kept">{words.headName(feed.from.layer, feed.from.head)} →</span>{' '}
        <span class="kept">{words.headInText(feed.to.layer, feed.to.head)}</span>
      </h2>
      <p class="how">{words.flow.lineAbout(name(feed.from), words[COLOURS[feed.kind]], name(feed.to))}</p>
      <table>
        <caption>{words.flow.reads}</caption>
        <tbody>
          {all.map(({ kind, value }) => (
            <tr key={kind}>
              <th scope="row" class={COLOURS[kind]}>
                {words[COLOURS[kind]]}
              </th>
              <td>{words.flow.norms[kind]}</td>
              <td>{kind === feed.kind ? <b>{value.toFixed(3)}</b> : value.toFixed(3)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" class="word" onClick={() => session.pick(null)}>
        {words.flow.back}
      </button>
    </div>
  );
}
