// During a scan a head is drawn as an outline while its position on the map still changes.

/** If a head moves by more than this share of the map per passage, its movement is visible. */
const VISIBLE = 0.02;

/** `before`: positions some passages earlier, as shares of the map; `passages`: number measured since then. */
export const settledHeads = (
  before: readonly { x: number; y: number }[] | null,
  now: readonly { x: number; y: number }[],
  passages: number,
) =>
  now.map(({ x, y }, head) => {
    const old = before?.[head];
    if (!old || passages <= 0) return false;
    return Math.hypot(x - old.x, y - old.y) / passages <= VISIBLE;
  });
