// Selects few edges that together keep most of a prediction. Among the strongest edges some are not needed, because
// others carry the same information.

/** The share of the prediction that the selected edges keep. */
export const USUAL_SHARE = 0.9;

/**
 * Returns edges that together keep USUAL_SHARE of the prediction, and less without any of them; none if all keep less.
 * Starts from the smallest sufficient power of two of the `strongest` (in order), then leaves out the weakest first.
 */
export async function neededLines<Line>(
  strongest: readonly Line[],
  shareOf: (lines: readonly Line[]) => Promise<number>,
): Promise<Line[]> {
  const isEnough = async (lines: readonly Line[]) => (await shareOf(lines)) >= USUAL_SHARE;
  let needed = await firstEnough(strongest, isEnough);
  for (const line of [...needed].reverse()) {
    const others = needed.filter((other) => other !== line);
    if (await isEnough(others)) needed = others;
  }
  return needed;
}

/** Returns the first 1, 2, 4, … edges that are enough, or all of them, or none if all of them are not enough. */
async function firstEnough<Line>(strongest: readonly Line[], isEnough: (lines: readonly Line[]) => Promise<boolean>) {
  for (let count = 1; count < 2 * strongest.length; count *= 2) {
    const first = strongest.slice(0, count);
    if (await isEnough(first)) return first;
  }
  return [];
}
