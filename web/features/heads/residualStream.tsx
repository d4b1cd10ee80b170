// The residual stream next to the heads, from the tokens upward. It has a segment after each layer, whose width shows
// how probable the next token would be if the model ended there, and a tick where the layer writes.

import { STREAM_WIDTH } from '../../parts/headLayout.ts';

/** The middle of the stream, the length of a tick, and the minimum and maximum width of a segment, in CSS pixels. */
const MIDDLE = 8;
const TICK = 8;
const [MIN_PIECE, MAX_PIECE] = [1.5, 7];
/** Top of the last segment. */
const TOP = 2;

export function ResidualStream({
  probabilities,
  height,
  bottom,
  joints,
  label,
}: {
  /** probability of the next token after the embedding and after each layer */
  probabilities: number[] | null | undefined;
  height: number;
  /** y at which the first segment begins */
  bottom: number;
  /** y at which each layer writes */
  joints: number[];
  label: string;
}) {
  const widthOf = (i: number) => MIN_PIECE + (MAX_PIECE - MIN_PIECE) * (probabilities?.[i] ?? 0);
  const ends = [bottom, ...joints, TOP];
  return (
    <svg class="stream" width={STREAM_WIDTH} height={height} role="img" aria-label={label}>
      <title>{label}</title>
      {ends.slice(1).map((y, i) => (
        <rect key={i} x={MIDDLE - widthOf(i) / 2} y={y} width={widthOf(i)} height={Math.max(ends[i] - y, 0)} />
      ))}
      {joints.map((y, i) => (
        <path key={i} d={`M${MIDDLE} ${Math.round(y) + 0.5}h${TICK}`} />
      ))}
    </svg>
  );
}
