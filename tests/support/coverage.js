// Writes the coverage counts of V8 for the built page and its workers in Chromium, in the format of Node, for
// `./build.sh coverage`.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SITE = fileURLToPath(new URL('../../dist/site', import.meta.url));
const START = [
  ['Profiler.enable', {}],
  ['Profiler.startPreciseCoverage', { callCount: true, detailed: true }],
];

/** Replaces the addresses of scripts of the site, on any local server, by those of the files. */
function filesOf(result) {
  return result.flatMap((script) => {
    if (!script.url.startsWith('http://localhost')) return [];
    const path = join(SITE, new URL(script.url).pathname);
    return path.endsWith('.js') && existsSync(path) ? [{ ...script, url: pathToFileURL(path).href }] : [];
  });
}

/**
 * Enables counting in every page of a browser, and writes the counts into a folder when the page or the browser closes.
 */
export function count(browser, folder) {
  const { newPage, close } = browser;
  const open = new Set();
  browser.newPage = async (options) => {
    const page = await newPage.call(browser, options);
    const write = await countPage(page, folder);
    const closePage = page.close;
    open.add(write);
    page.close = async () => {
      if (open.delete(write)) await write();
      await closePage.call(page);
    };
    return page;
  };
  browser.close = async () => {
    for (const write of open) await write();
    await close.call(browser);
  };
  return browser;
}

async function countPage(page, folder) {
  const session = await page.context().newCDPSession(page);
  const workers = new Set();
  const answers = new Map();
  let id = 0;
  /** Sends a command to a worker through its page, and resolves to the answer. */
  const tell = (sessionId, method, params = {}) => {
    const message = JSON.stringify({ id: ++id, method, params });
    const answer = new Promise((resolve) => answers.set(`${sessionId} ${id}`, resolve));
    session.send('Target.sendMessageToTarget', { sessionId, message }).catch(() => {});
    return answer;
  };
  session.on('Target.receivedMessageFromTarget', ({ sessionId, message }) => {
    const { id: of, result } = JSON.parse(message);
    answers.get(`${sessionId} ${of}`)?.(result);
  });
  session.on('Target.detachedFromTarget', ({ sessionId }) => workers.delete(sessionId));
  session.on('Target.attachedToTarget', ({ sessionId }) => {
    workers.add(sessionId);
    for (const [method, params] of START) tell(sessionId, method, params);
    tell(sessionId, 'Runtime.runIfWaitingForDebugger');
  });
  for (const [method, params] of START) await session.send(method, params);
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: false });

  return async () => {
    // A page that crashed and a worker that ends do not respond.
    const none = { result: [] };
    const late = new Promise((resolve) => setTimeout(resolve, 5000, none));
    const all = await Promise.all([
      session.send('Profiler.takePreciseCoverage').catch(() => none),
      ...[...workers].map((worker) => Promise.race([tell(worker, 'Profiler.takePreciseCoverage'), late])),
    ]);
    mkdirSync(folder, { recursive: true });
    const result = all.map((part) => filesOf(part.result));
    result.forEach((part, i) => {
      writeFileSync(join(folder, `chromium-${process.pid}-${Date.now()}-${i}.json`), JSON.stringify({ result: part }));
    });
  };
}
