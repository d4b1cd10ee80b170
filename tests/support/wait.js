/** Until a condition outside the page holds; the limit is for what hangs, not for a machine that is slow. */
export async function until(holds, limit = 120_000) {
  for (const start = Date.now(); !(await holds()); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() - start > limit) throw new Error(`not within ${limit / 1000} s: ${holds}`);
}
