/** Waits for a condition outside of the page; the time limit is for a hang, not for a slow machine. */
export async function until(holds, limit = 120_000) {
  for (const start = Date.now(); !(await holds()); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() - start > limit) throw new Error(`not within ${limit / 1000} s: ${holds}`);
}
