// One passage: its weight, its words with bars, the arc from the query to the key, and the word after the query.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { RAMP } from '../../drawing/colourRamp.ts';
import type { AtlasSample } from '../../model/protocol/atlasProtocol.ts';
import { useSession } from '../../store/context.ts';
import { useSize } from '../../ui/useSize.ts';
import { weightText } from './numbers.ts';
import { type Arc, rowOf, type Strip, type StripPart } from './strip.ts';
import { useAtlasTexts } from './texts.ts';

/** Height in pixels above the words, in which arcs are drawn. */
const RISE = 17;
/** Maximum number of arcs from a word that the pointer is on, and the minimum weight of an arc. */
const [MAX_ARCS, MIN_WEIGHT] = [3, 0.05];

export function PassageStrip({
  sample,
  strip,
  onOpen,
}: {
  sample: AtlasSample;
  strip: Strip;
  onOpen: ((sample: AtlasSample, arc: Arc) => void) | null;
}) {
  const session = useSession();
  const texts = useAtlasTexts();
  const [touched, setTouched] = useState(null as number | null);
  const query = touched ?? strip.arc.t;
  const row = useMemo(() => rowOf(sample, query), [sample, query]);
  const arcs = useArcs(strip, row, touched);
  const ramp = RAMP[session.theme.value];
  const line = useRef(null as HTMLSpanElement | null);
  const paths = usePaths(line, arcs);
  const nameOf = (at: number) => sample.tokens[at]?.trim() || '␣';
  const keys = new Set(arcs.map(({ s }) => s));
  const lookOf = (at: number) => {
    const same = touched === null && strip.same.includes(at) ? ' same' : '';
    return (at === query ? 'query' : keys.has(at) ? 'key' : '') + same;
  };
  const content = (
    <>
      <b class="strip-weight" aria-hidden={onOpen !== null}>
        {weightText(arcs[0]?.weight ?? strip.arc.weight)}
      </b>
      <span class="strip-words" ref={line} aria-hidden={onOpen !== null} onPointerLeave={() => setTouched(null)}>
        <svg class="strip-arcs" aria-hidden="true">
          {paths.map(({ d, x }, i) => (
            <g key={i}>
              <path d={d} />
              <circle cx={x} cy={RISE} r="2.6" />
            </g>
          ))}
        </svg>
        {strip.parts.map((part) => (
          <Part
            key={`${part.at} ${part.folded ?? ''}`}
            part={part}
            look={lookOf(part.at)}
            bar={part.at <= query || row[part.at] > 0 ? ramp.css(row[part.at]) : 'transparent'}
            onPoint={setTouched}
          />
        ))}
        {strip.next !== null && <i class="strip-next">{strip.next.trim() || '↵'}</i>}
      </span>
    </>
  );
  if (!onOpen) return <div class="strip-line">{content}</div>;
  return (
    <button type="button" class="strip-line" onClick={() => onOpen(sample, strip.arc)}>
      <span class="spoken">
        {texts.passageName(nameOf(strip.arc.t), nameOf(strip.arc.s), weightText(strip.arc.weight))}
      </span>
      {content}
    </button>
  );
}

/** Returns the strongest arcs of the word under the pointer, or the arc with the largest weight if there is none. */
function useArcs(strip: Strip, row: Float32Array, touched: number | null): Arc[] {
  return useMemo(() => {
    if (touched === null) return [strip.arc];
    const shown = strip.parts.flatMap((part) => ('text' in part ? [part.at] : []));
    return shown
      .map((s) => ({ t: touched, s, weight: row[s] }))
      .filter(({ weight }) => weight >= MIN_WEIGHT)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, MAX_ARCS);
  }, [strip, row, touched]);
}

/** Returns the arcs as paths between the words, after the words have been laid out. */
function usePaths(line: { current: HTMLElement | null }, arcs: Arc[]) {
  const { width } = useSize(line);
  const [paths, setPaths] = useState([] as { d: string; x: number }[]);
  useLayoutEffect(() => {
    const middleOf = (at: number) => {
      const word = line.current?.querySelector(`[data-at="${at}"]`) as HTMLElement | null | undefined;
      return word ? word.offsetLeft + word.offsetWidth / 2 : null;
    };
    setPaths(
      arcs.flatMap(({ t, s }) => {
        const [from, to] = [middleOf(t), middleOf(s)];
        return from === null || to === null ? [] : [{ d: arcPath(from, to), x: to }];
      }),
    );
  }, [width, arcs]);
  return paths;
}

/** Returns the path of an arc from a query to its key, nearly level in the middle; a loop if they are one token. */
function arcPath(from: number, to: number) {
  if (from === to) return `M${from - 6} ${RISE}C${from - 9} 4 ${from + 9} 4 ${from + 6} ${RISE}`;
  const bend = Math.sign(to - from) * Math.min(Math.abs(to - from) / 2, 50);
  const up = `M${from} ${RISE}C${from} 5 ${from + bend / 2} 3 ${from + bend} 3`;
  return `${up}L${to - bend} 3C${to - bend / 2} 3 ${to} 5 ${to} ${RISE}`;
}

function Part({
  part,
  look,
  bar,
  onPoint,
}: {
  part: StripPart;
  look: string;
  bar: string;
  onPoint: (at: number) => void;
}) {
  const texts = useAtlasTexts();
  if (part.folded !== undefined) return <span class="strip-folded"> · {texts.folded(part.folded)} · </span>;
  return (
    <>
      {part.space && ' '}
      <span
        class={`strip-word ${look}`}
        data-at={part.at}
        style={{ '--bar': bar }}
        onPointerEnter={() => onPoint(part.at)}
      >
        {part.text}
      </span>
    </>
  );
}
