// Starts the Chromium of the system with playwright-core.

import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';
import { count } from './coverage.js';

const find = () => {
  for (const name of ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // Try the next name.
    }
  }
  throw new Error('no Chromium on PATH: ./build.sh test installs it');
};

const options = (/** @type {string[]} */ more = []) => ({
  executablePath: find(),
  timeout: 300_000,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    ...more,
  ],
});

/**
 * Starts one browser for all test files of a run, which find its address in the environment variable
 * HEADLIGHT_CHROMIUM.
 */
export const launchShared = () => chromium.launchServer(options());

/**
 * Returns a browser that sends no requests by itself: the shared browser of the run, or a new one if there is no shared
 * browser or more arguments are needed.
 * @param {string[]} [more]
 */
export async function launch(more = []) {
  if (more.length > 0) return chromium.launch(options(more));
  const shared = process.env.HEADLIGHT_CHROMIUM;
  const counts = process.env.CHROMIUM_COVERAGE;
  if (counts) return count(await chromium.launch(options()), counts);
  return shared ? chromium.connect(shared) : chromium.launch(options());
}
