/**
 * Waits for a condition outside of the page. The time limit is so long that only a hang reaches it, even on a slow
 * machine.
 */
export async function until(holds, limit = 120_000) {
  for (const start = Date.now(); !(await holds()); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() - start > limit) throw new Error(`not within ${limit / 1000} s: ${holds}`);
}
