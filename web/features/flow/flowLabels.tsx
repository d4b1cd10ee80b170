// The texts around the drawing of flow: title, next token, names of layers and of feed-forward parts, contributions,
// tokens.

import { textWidth } from '../../drawing/textWidth.ts';
import { weightsOf } from '../../model/derivation.ts';
import { signed } from '../../model/numbers.ts';
import { shown as shownToken } from '../../model/tokens.ts';
import { useSession } from '../../store/context.ts';
import { useLengths } from '../../ui/lengths.ts';
import { px } from '../../ui/px.ts';
import type { FlowDrawing } from './flow.tsx';
import type { Node } from './flowLayout.ts';
import { feetOf, isSlanted } from './flowTokens.ts';
import { nameOf, otherPart } from './pickedPart.ts';
import { useFlowTexts } from './texts.ts';
export type Guess = { id: number; text: string; now: number };

/** Maximum number of other predictions that are listed. */
const MAX_OTHERS = 4;
/** Pixels that the title needs next to the token, and that the other predictions need on the right of the token. */
const TITLE_ROOM = 420;
const OTHERS_ROOM = 330;
/** Pixels from the middle of the token to the other predictions, and around each; the size of their letters. */
const [BESIDE, AROUND, LETTERS] = [104, 22, 16];

/** Returns the first predictions, as many as fit into a width. */
function fitting(guesses: Guess[], room: number) {
  let used = 0;
  return guesses.filter(({ text }) => (used += textWidth(`${text} <0.1%`, LETTERS) + AROUND) <= room);
}

/** The title, and the chosen next token with the other predictions. */
export function Head({
  flow: { run, target, width },
  narrow,
  compact,
}: {
  flow: FlowDrawing;
  narrow: boolean;
  compact: boolean;
}) {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const { chosen, pieces } = run;
  const top: Guess[] = run.top;
  const p = top.find(({ id }) => id === chosen.id)?.now ?? Number.NaN;
  // The title is on the side with more room.
  const left = target.x < 0.46 * width;
  const room = left ? width - target.x : target.x;
  const toLeft = !left && target.x >= width - OTHERS_ROOM;
  const beside = toLeft ? Math.min(target.x - BESIDE, width - 160) : width - Math.max(target.x + BESIDE, 160);
  const others = narrow ? [] : fitting(top.filter(({ id }) => id !== chosen.id).slice(0, MAX_OTHERS), beside);
  return (
    <div class="flow-head">
      {!narrow && room > TITLE_ROOM && (
        <div class={`flow-title ${left ? 'right-side' : ''}`}>
          <h2>{texts.title}</h2>
          {!compact && (
            <p>
              {texts.rises[0]} <i class="query">{pieces.at(-1)?.name}</i>
              {texts.rises[1]} <i>{shownToken(chosen.text).trim()}</i>
              {texts.rises[2]}
            </p>
          )}
        </div>
      )}
      <div class="flow-target">
        <i>{shownToken(chosen.text).trim() || '␣'}</i> <span data-name="probability">{words.percent(p)}</span>
      </div>
      <ul class={`flow-others ${toLeft ? 'left-side' : ''}`}>
        {others.map(({ id, text, now }) => (
          <li key={id}>
            <button
              type="button"
              class="word"
              title={texts.follow(shownToken(text).trim())}
              onClick={() => session.update({ token: id === top[0].id ? null : id })}
            >
              <i>{shownToken(text).trim() || '␣'}</i> {words.fine(now)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Returns the prediction after a layer as a text. */
export const earlyText = ({ text, probability }: { text: string; probability: number }) =>
  `“${shownToken(text).trim() || '␣'}” ${Math.round(100 * probability)}%`;

/** A layer's name (only its number if `short`), and the prediction if the model ended after it. */
export function Layer({
  layer,
  y,
  size,
  short,
  early,
}: {
  layer: number;
  y: number;
  size: number;
  short: boolean;
  early?: { text: string; probability: number }[] | null;
}) {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const guess = early?.[layer + 1];
  return (
    <div class="flow-layer" style={px({ top: y, height: size })}>
      <span class="serif-name">{short ? layer : words.layer(layer)}</span>
      {!short && guess && (
        <span class="early" title={words.lensAbout(layer)}>
          {texts.wouldGuess}
          <br />
          <q>{shownToken(guess.text).trim() || '␣'}</q> {words.percent(guess.probability)}
        </span>
      )}
    </div>
  );
}

/** Minimum height in pixels of a part that has a text. */
const TEXT_HEIGHT = 16;
/** Letters without serifs are wider than those that are measured, by at most this factor. */
export const SANS = 1.15;

/** The box of a feed-forward part, of the attention that is not shown, or of the heads that are summed. */
export function Piece({ part }: { part: Node }) {
  const session = useSession();
  const { small: letter } = useLengths();
  const texts = useFlowTexts();
  const picked = session.picked.value;
  const on = picked?.kind === part.kind && picked.layer === part.layer;
  const other = otherPart(session);
  const fits = (text: string) => textWidth(text, letter) * SANS <= part.width;
  /** The text on each kind of part, and the name of the part. */
  const named: Record<string, [string, string]> = {
    mlp: [fits(texts.mlpShort) ? texts.mlpShort : texts.mlpTiny, texts.mlp(part.layer)],
    others: [
      fits(texts.attentionShort[other]) ? texts.attentionShort[other] : texts.attentionTiny[other],
      texts.attention[other](part.layer),
    ],
    rest: [`+${part.heads.length}`, texts.rest(part.heads.length, part.layer)],
  };
  const [short, label] = named[part.kind];
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
      {part.height >= TEXT_HEIGHT && <span>{short}</span>}
    </button>
  );
}

/** The contribution of a part as a number, above the part and next to its ribbon. */
export function Amount({ part, flow }: { part: Node; flow: FlowDrawing }) {
  const { scale, toRight, pitch } = flow;
  const half = part.value < 0 ? Math.max(-part.value * scale, 1.5) / 2 : Math.max(part.value * scale, 1) / 2;
  const right = toRight(part);
  const middle = part.x + part.width / 2;
  // Narrow columns have room only for large contributions.
  if (pitch < 60 && Math.abs(part.value) < 1) return null;
  return (
    <span
      class={`amount ${part.value > 0.5 ? 'much' : ''} ${right ? 'left-of' : ''}`}
      style={px({ '--x': right ? middle - half : middle + half, '--y': part.y })}
      aria-hidden="true"
    >
      {signed(part.value)}
    </span>
  );
}

/** The tokens at the bottom: all of them, or those with the most attention. */
export function Feet({ flow }: { flow: FlowDrawing }) {
  const { run } = flow;
  const row = (weightsOf(run, run.layer, run.head) as Float32Array).subarray((run.T - 1) * run.S, run.T * run.S);
  const slanted = isSlanted(flow);
  const last = run.keys === run.pieces ? run.S - 1 : -1;
  return (
    <div class={`flow-feet ${slanted ? 'slant' : ''}`} aria-hidden="true">
      {feetOf(flow, row).map(({ s, x }, _, all) => (
        <span
          key={s}
          class={s === last ? 'query' : ''}
          style={px({ left: x, maxWidth: slanted ? undefined : flow.width / all.length })}
        >
          {run.keys[s].name}
        </span>
      ))}
    </div>
  );
}
