// A bar for a probability, with a tick at the earlier probability and a line between bar and tick.

import { px } from './px.ts';

export function Track({
  now,
  before = null,
  most = 1,
}: {
  now: number;
  /** null if there is nothing to compare with */
  before?: number | null;
  /** the value of a bar over the whole width */
  most?: number;
}) {
  const at = (p: number) => `${(100 * p) / most}%`;
  return (
    <span class="track">
      {before !== null && (
        <span class="way" style={px({ left: at(Math.min(now, before)), width: at(Math.abs(now - before)) })} />
      )}
      <span class="bar" style={px({ width: at(now) })} />
      {before !== null && <span class="tick" style={px({ left: at(before) })} />}
    </span>
  );
}
