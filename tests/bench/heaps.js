// Reads the sizes of the JavaScript heaps of a page and its workers repeatedly.

/** Milliseconds between two readings. */
const PAUSE = 50;

/**
 * @param {import('playwright-core').Page} page
 * @returns most(): the largest sums so far, in bytes, of the heaps and of the arrays outside the heaps; workers(): the
 *   number of workers
 */
export async function watchHeaps(page) {
  const session = await page.context().newCDPSession(page);
  const most = { heap: 0, arrays: 0 };
  const latest = new Map();
  const record = (id, { usedSize, backingStorageSize = 0 }) => {
    latest.set(id, { heap: usedSize, arrays: backingStorageSize });
    for (const name of Object.keys(most))
      most[name] = Math.max(
        most[name],
        [...latest.values()].reduce((sum, sizes) => sum + sizes[name], 0),
      );
  };
  session.on('Target.attachedToTarget', ({ sessionId }) => latest.set(sessionId, { heap: 0, arrays: 0 }));
  session.on('Target.detachedFromTarget', ({ sessionId }) => latest.delete(sessionId));
  session.on('Target.receivedMessageFromTarget', ({ sessionId, message }) => {
    const { result } = JSON.parse(message);
    if (result && latest.has(sessionId)) record(sessionId, result);
  });
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  const look = async () => {
    record('page', await session.send('Runtime.getHeapUsage'));
    // The message is sent without waiting for the answer, because a worker answers only after its current computation.
    const message = JSON.stringify({ id: 1, method: 'Runtime.getHeapUsage' });
    for (const sessionId of latest.keys())
      if (sessionId !== 'page')
        await session.send('Target.sendMessageToTarget', { sessionId, message }).catch(() => {});
    setTimeout(() => look().catch(() => {}), PAUSE);
  };
  await look();
  return { most: () => ({ ...most }), workers: () => latest.size - 1 };
}
