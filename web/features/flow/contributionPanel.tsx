// The reading column in flow. It shows positive and negative contributions to the next token's logit, their sum, and
// the chosen head, part or line.

import { readingOf, weightsOf } from '../../model/derivation.ts';
import { shownPart } from '../../model/modelEdits.ts';
import { plain, signed, weightText } from '../../model/numbers.ts';
import type { AttentionPart } from '../../model/protocol/protocol.ts';
import { shown as shownToken } from '../../model/tokens.ts';
import type { RunWithContributions, RunWithValues } from '../../model/types.ts';
import { AblationButton } from '../../parts/ablation.tsx';
import { useSession } from '../../store/context.ts';
import { hasContributions, hasValues } from '../../store/runParts.ts';
import type { Strings } from '../../texts/languages.ts';
import { px } from '../../ui/px.ts';
import { CircuitPanel } from '../circuit/feature.ts';
import { actingThrough, type Contribution, partsAdding } from './contributions.ts';
import type { Composition, Place } from './flowLayout.ts';
import { COLOURS, isPicked, otherPart, pick, sameComposition } from './pickedPart.ts';
import { useFlowTexts } from './texts.ts';

export { default as styles } from './contributionPanel.css';

/** Maximum number of parts in the list, in a compact column and in a normal one. */
const [MAX_COMPACT, MAX_PARTS] = [4, 8];

export function ContributionPanel(props: { compact?: boolean; title?: boolean }) {
  const { circuit } = useSession().state.value;
  return circuit ? <CircuitPanel /> : <Contributions {...props} />;
}

function Contributions({ compact = false, title = true }: { compact?: boolean; title?: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const run = session.run.value;
  const { hide } = session.state.value;
  if (!hasContributions(run)) return <section class="adding" />;
  const { positive, negative, others, most } = partsAdding(run.added, run.about, {
    hide,
    count: compact ? MAX_COMPACT : MAX_PARTS,
    other: otherPart(session),
  });
  const p = run.top.find(({ id }) => id === run.chosen.id)?.now ?? Number.NaN;
  const token = shownToken(run.chosen.text).trim();
  const list = (parts: Contribution[], kind: string) => (
    <ul class={kind}>
      {parts.map((part) => (
        <Row key={`${part.kind}${part.of ?? ''}${part.layer}.${part.head}`} part={part} most={most} />
      ))}
    </ul>
  );
  return (
    <section class={`adding ${compact ? 'compact' : ''}`} aria-label={texts.adds(token)}>
      {title && <Chosen run={run} />}
      <h3>
        <span>
          {texts.addsTo[0]} <i>{token}</i>
          {texts.addsTo[1]}
        </span>
        <Unit />
      </h3>
      <Indirect run={run} />
      {list(positive, 'for')}
      {negative.length > 0 && <h3>{texts.takes}</h3>}
      {list(negative, 'against-it')}
      <dl class="sum">
        {others.count > 0 && (
          <div>
            <dt>{texts.others(others.count)}</dt>
            <dd>{signed(others.value)}</dd>
          </div>
        )}
        <div class="total">
          <dt>{texts.logit(words.percent(p))}</dt>
          <dd data-name="logit">{plain(run.added.sum)}</dd>
        </div>
      </dl>
    </section>
  );
}

const Unit = () => <span class="unit">{useFlowTexts().unit}</span>;

/** Maximum number of heads with an indirect effect that are listed. */
const MAX_INDIRECT = 3;

/** Says that the list is direct only or, once all heads were ablated, lists heads that act mostly indirectly. */
function Indirect({ run }: { run: RunWithContributions }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const found = session.ablation.value;
  if (!found || session.ablating.value)
    return run.about.edits && run.about.predicts ? (
      <p class="how direct-only">
        {texts.tryThem} <AblationButton />
      </p>
    ) : null;
  const shown = shownPart(run.about, session.state.value);
  const heads = actingThrough(found, run.added, run.about, shown).slice(0, MAX_INDIRECT);
  if (heads.length === 0) return null;
  return (
    <>
      <p class="how">
        <b>{texts.through}</b> {texts.throughAbout}
      </p>
      <ul class="against-it">
        {heads.map(({ part, layer, head, change }) => (
          <li key={`${part}${layer}.${head}`}>
            <button
              type="button"
              onClick={() => pick(session, { kind: 'head', layer, head, ...(part !== shown && { of: part }) })}
            >
              <span>{part === shown ? words.headName(layer, head) : words.open.headOf(part, layer, head)}</span>
              <span class="track">
                <span class="bar" style={px({ width: `${-100 * change}%` })} />
              </span>
              <b>
                {signed(100 * change, 0)} {texts.points}
              </b>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/** `other`: the attention of the decoder that is not shown. */
function partName(
  words: Strings,
  texts: ReturnType<typeof useFlowTexts>,
  { kind, layer, head, heads, of }: { kind: string; layer: number; head: number; heads?: number[]; of?: AttentionPart },
  other: 'decoder' | 'cross',
) {
  if (kind === 'head') return of ? words.open.headOf(of, layer, head) : words.headName(layer, head);
  if (kind === 'others') return texts.attention[other](layer);
  if (kind === 'mlp') return texts.mlp(layer);
  if (kind === 'embed') return texts.embed;
  if (kind === 'rest') return texts.rest(heads?.length ?? 0, layer);
  return texts.bias;
}

/** `most`: the largest contribution. */
function Row({ part, most }: { part: Contribution; most: number }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const state = session.state.value;
  const chosen = isPicked(part, session.picked.value, state);
  return (
    <li>
      <button type="button" aria-pressed={chosen} data-part={part.kind} onClick={() => pick(session, part)}>
        <span>{partName(words, texts, part, otherPart(session))}</span>
        <span class="track">
          <span class="bar" style={px({ width: `${(100 * Math.abs(part.value)) / most}%` })} />
        </span>
        <b>{signed(part.value)}</b>
      </button>
    </li>
  );
}

/** Shows the details of the chosen line, part or head. */
function Chosen({ run }: { run: RunWithContributions }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const picked = session.picked.value;
  if (picked?.kind === 'line') return <ChosenLine composition={picked.composition} />;
  if (picked)
    return (
      <div class="made">
        <h2 class="title">{partName(words, texts, { ...picked, head: -1 }, otherPart(session))}</h2>
        <p class="how">{(texts.made as Record<string, string>)[picked.kind]}</p>
      </div>
    );
  return hasValues(run) ? <ChosenHead run={run} /> : null;
}

/** Maximum number of tokens that are listed for a head. They have the largest shares of its contribution. */
const MAX_TOKENS = 3;

function ChosenHead({ run }: { run: RunWithContributions & RunWithValues }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const role = session.roles.value?.[run.layer]?.[run.head] as keyof typeof words.does | null | undefined;
  const value = run.added.heads[run.layer * run.about.heads + run.head];
  const t = run.T - 1;
  const weights = (weightsOf(run, run.layer, run.head) as Float32Array).subarray(t * run.S, run.T * run.S);
  const parts = Array.from(weights, (weight, s) => ({ s, weight, adds: readingOf(run, { t, s }).adds ?? Number.NaN }))
    .filter(({ weight, adds }) => weight > 0 && Number.isFinite(adds))
    .sort((a, b) => Math.abs(b.adds) - Math.abs(a.adds));
  const [first, rest] = [parts.slice(0, MAX_TOKENS), parts.slice(MAX_TOKENS)];
  return (
    <div class="made">
      <h2 class="title">{words.headName(run.layer, run.head)}</h2>
      <p class="how">{role ? words.does[role] : words.doesNot}</p>
      <table>
        <caption>
          {texts.madeOf} <b>{signed(value)}</b> <Unit />
        </caption>
        <tbody>
          {first.map(({ s, weight, adds }) => (
            <tr key={s}>
              <th scope="row">
                <i>{run.keys[s].name}</i>
              </th>
              <td>{texts.weighed(weightText(weight))}</td>
              <td>
                <b>{signed(adds)}</b>
              </td>
            </tr>
          ))}
          {rest.length > 0 && (
            <tr>
              <th scope="row">{texts.otherTokens(rest.length)}</th>
              <td />
              <td>{signed(rest.reduce((sum, { adds }) => sum + adds, 0))}</td>
            </tr>
          )}
          {parts.length > 0 && run.sound !== undefined && run.sound.unseen > 0 && (
            <tr>
              <th scope="row">{texts.silence}</th>
              <td>{texts.weighed(weightText(run.values.unseen?.[t] ?? 0))}</td>
              <td>{signed(parts.reduce((left, { adds }) => left - adds, value))}</td>
            </tr>
          )}
        </tbody>
      </table>
      <Neighbours />
    </div>
  );
}

/** Maximum number of compositions that are listed. */
const MAX_LINES = 3;

/** Lists the strongest compositions of the chosen head with other heads. */
function Neighbours() {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const { layer, head, hide } = session.state.value;
  const found = session.composition.value;
  if (!found || found.layer !== layer || found.head !== head) return null;
  if (shownPart(session.about.value, session.state.value) !== 'decoder') return null;
  const compositions: Composition[] = found.compositions;
  const strong = compositions.filter(({ value }) => value >= hide).sort((a, b) => b.value - a.value);
  if (strong.length === 0) return null;
  return (
    <>
      <p class="how lines-about">{texts.linesAbout}</p>
      <ul class="neighbours" aria-label={texts.linesOf}>
        {strong.slice(0, MAX_LINES).map((composition) => {
          const below = composition.to.layer === layer && composition.to.head === head;
          const other = below ? composition.from : composition.to;
          return (
            <li key={JSON.stringify(composition)}>
              <button type="button" onClick={() => session.pick({ kind: 'line', composition })}>
                <span class={`dash ${COLOURS[composition.kind]}`} />
                <span>
                  {below
                    ? texts.readsFrom(words[COLOURS[composition.kind]], texts.shortHead(other.layer, other.head))
                    : texts.readBy(words[COLOURS[composition.kind]], texts.shortHead(other.layer, other.head))}
                </span>
                <b>{composition.value.toFixed(2)}</b>
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** Shows the chosen line: the composition of two heads by query, by key and by value. */
function ChosenLine({ composition }: { composition: Composition }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const compositions: Composition[] = session.composition.value?.compositions ?? [];
  const all = compositions.filter((other) => sameComposition({ ...other, kind: composition.kind }, composition));
  const name = ({ layer, head }: Place) => words.headInText(layer, head);
  return (
    <div class="made">
      <h2 class="title">
        <span class="unbroken">{words.headName(composition.from.layer, composition.from.head)} →</span>{' '}
        <span class="unbroken">{words.headInText(composition.to.layer, composition.to.head)}</span>
      </h2>
      <p class="how">
        {texts.lineAbout(name(composition.from), words[COLOURS[composition.kind]], name(composition.to))}
      </p>
      <table>
        <caption>{texts.reads}</caption>
        <tbody>
          {all.map(({ kind, value }) => (
            <tr key={kind}>
              <th scope="row" class={COLOURS[kind]}>
                {words[COLOURS[kind]]}
              </th>
              <td>{texts.norms[kind]}</td>
              <td>{kind === composition.kind ? <b>{value.toFixed(3)}</b> : value.toFixed(3)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" class="word" onClick={() => session.pick(null)}>
        {texts.back}
      </button>
    </div>
  );
}
