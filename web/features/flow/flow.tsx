// Flow: a large drawing of the model in place of the picture. The contribution of each part to the logit of the chosen
// next token is a ribbon from the part up to the token. Lines show the composition of the chosen head with other heads,
// by query, key and value.

import { maxTextWidth } from '../../drawing/textWidth.ts';
import { shownPart } from '../../model/modelEdits.ts';
import type { RunWithContributions } from '../../model/types.ts';
import { Thumbnail, walkHeads } from '../../parts/thumbnail.tsx';
import { Ways } from '../../parts/ways.tsx';
import { useSession } from '../../store/context.ts';
import { hasContributions } from '../../store/runParts.ts';
import { useLengths } from '../../ui/lengths.ts';
import { px } from '../../ui/px.ts';
import { Circuit, CircuitMarks } from '../circuit/feature.ts';
import { Drawing } from './flowDrawing.tsx';
import { Amount, earlyText, Feet, Head, Layer, Piece, SANS } from './flowLabels.tsx';
import { flowOf, type Node } from './flowLayout.ts';
import { TOKEN_TOP } from './flowTokens.ts';
import { COLOURS } from './pickedPart.ts';
import { useFlowTexts } from './texts.ts';
export type FlowSize = { width: number; height: number; side: number; feet: number; run: RunWithContributions };
export type FlowDrawing = ReturnType<typeof flowOf> & FlowSize;

export { default as styles } from './flow.css';

/** Pixels for the title above the ribbons, for the tokens below the rows, and for the names of narrow layers. */
const TOP = 54;
const FEET = 48;
const NARROW_SIDE = 30;
/** The least and the most pixels for the names of layers with their predictions, and pixels on the right of them. */
const [SIDE, MAX_SIDE, BESIDE] = [76, 150, 8];
/** Width of a feed-forward part, as a multiple of the height of a letter. */
const PILL = 7;
/** In a drawing narrower than this there is no title, and layers have only their numbers. */
const NARROW = 620;
/** Thumbnails smaller than DENSE have no predictions beside them, those smaller than TINY no contributions above. */
const [DENSE, TINY] = [30, 16];

/** Returns the width of the layers' names and of the predictions below them. `letter`: height of a letter. */
const sideOf = ({ early }: RunWithContributions, texts: string[], letter: number) =>
  Math.min(Math.max(SIDE, maxTextWidth([...texts, ...(early ?? []).map(earlyText)], letter) * SANS + BESIDE), MAX_SIDE);

const keyOf = ({ kind, layer, head }: Node) => `${kind}${layer}.${head}`;

/** Returns the drawing, or null while there is no run. */
function useFlow({ width, height }: { width: number; height: number }): FlowDrawing | null {
  const session = useSession();
  const run = session.run.value;
  const { hide, layer, head } = session.state.value;
  const { small: letter } = useLengths();
  const texts = useFlowTexts();
  if (!hasContributions(run) || width <= 0 || height <= 0) return null;
  const found = session.composition.value;
  const isOwn = shownPart(run.about, session.state.value) === 'decoder';
  const compositions = isOwn && found && found.layer === layer && found.head === head ? found.compositions : [];
  const side = width < NARROW ? NARROW_SIDE : sideOf(run, [texts.wouldGuess], letter);
  const { layers, heads, mlps } = run.about;
  const chosen = { layer, head };
  const sizes = { width, height, top: TOP, side, feet: FEET, pill: PILL * letter };
  const flow = flowOf({ ...sizes, layers, heads, tokens: run.S, mlps, added: run.added, hide, chosen, compositions });
  return { ...flow, run, width, height, side, feet: FEET };
}

export function Flow(props: { width: number; height: number; compact?: boolean }) {
  const { circuit } = useSession().state.value;
  return circuit ? <Circuit {...props} /> : <Contributions {...props} />;
}

function Contributions({ width, height, compact = false }: { width: number; height: number; compact?: boolean }) {
  const session = useSession();
  const texts = useFlowTexts();
  const narrow = width < NARROW;
  const flow = useFlow({ width, height });
  if (!flow)
    return (
      <div class="flow" style={px({ height })}>
        {session.run.value && <p class="no-flow">{texts.cannot}</p>}
      </div>
    );
  const { run, parts, size, rows, target } = flow;
  const { heads, layers } = run.about;
  return (
    <section
      class={`flow ${narrow ? 'narrow' : ''}`}
      style={px({ height, width, '--target': target.x, '--side': flow.side, '--token-top': TOKEN_TOP })}
      aria-label={texts.title}
    >
      <Head flow={flow} narrow={narrow} compact={compact} />
      <Drawing flow={flow} />
      {rows.map(({ y }, layer) => (
        <Layer key={layer} layer={layer} y={y} size={size} short={narrow || size < DENSE} early={run.early} />
      ))}
      <Heads flow={flow} />
      {parts
        .filter(({ kind }) => kind === 'mlp' || kind === 'rest' || kind === 'others')
        .map((part) => (
          <Piece key={keyOf(part)} part={part} />
        ))}
      {parts
        .filter((part) => part.shown && part.kind !== 'embed' && size >= TINY)
        .map((part) => (
          <Amount key={keyOf(part)} part={part} flow={flow} />
        ))}
      <Feet flow={flow} />
      <p class="spoken">{texts.about(layers, heads)}</p>
      {target.width === 0 && <p class="no-flow">{texts.nothing}</p>}
    </section>
  );
}

/** Draws the thumbnails. A thumbnail without a ribbon or a line is pale. */
function Heads({ flow: { run, parts, lines, size } }: { flow: FlowDrawing }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const ended = new Set(lines.flatMap(({ from, to }) => [from, to].map(({ layer, head }) => `${layer}.${head}`)));
  return (
    <div role="radiogroup" aria-label={words.models} onKeyDown={(event) => walkHeads(event, session, run.about)}>
      {parts
        .filter(({ kind }) => kind === 'head')
        .map(({ layer, head, shown, x, y }) => {
          const isChosen = layer === state.layer && head === state.head;
          const quiet = !shown && !ended.has(`${layer}.${head}`) && !isChosen;
          return (
            <div key={`${layer}.${head}`} class={quiet ? 'quiet' : ''}>
              <Thumbnail
                layer={layer}
                head={head}
                size={size}
                left={x}
                top={y}
                across={size}
                down={size}
                named={false}
              />
            </div>
          );
        })}
    </div>
  );
}

/** The legend of flow: line colours, and the bar of a negative contribution. `alone`: flow is the whole view. */
export function FlowMarks({ alone = false }: { alone?: boolean }) {
  const { circuit } = useSession().state.value;
  return circuit ? <CircuitMarks /> : <ContributionMarks alone={alone} />;
}

function ContributionMarks({ alone }: { alone: boolean }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useFlowTexts();
  const part = shownPart(session.about.value, session.state.value);
  const isPair = (session.about.value?.parts.length ?? 0) > 0;
  return (
    <>
      {!alone && !isPair && <Ways />}
      {part === 'decoder' && <span class="composition-label">{texts.inputTo}</span>}
      {part === 'decoder' &&
        Object.entries(COLOURS).map(([kind, name]) => (
          <span key={kind} class={`sample composition ${name}`}>
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
        {texts.against}
      </span>
    </>
  );
}
