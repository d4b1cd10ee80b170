// During a scan a head is drawn open while its place still moves.

/** A move by this share of the map from one passage to the next is visible. */
const VISIBLE = 0.02;

/**
 * True for each head whose place no longer moves.
 * @param {readonly { x: number, y: number }[] | null} before the places, as shares of the map, some passages earlier
 * @param {readonly { x: number, y: number }[]} now
 * @param {number} passages between the two
 */
export const settledHeads = (before, now, passages) =>
  now.map(({ x, y }, head) => {
    const old = before?.[head];
    if (!old || passages <= 0) return false;
    return Math.hypot(x - old.x, y - old.y) / passages <= VISIBLE;
  });
