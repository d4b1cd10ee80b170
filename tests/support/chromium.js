// The system's Chromium, driven by playwright-core.

import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';
import { count } from './coverage.js';

const find = () => {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // The next name, then.
    }
  }
  throw new Error('no Chromium on PATH: ./build.sh test installs it');
};

/** A browser with a profile of its own, which asks nothing of the network by itself. */
export async function launch() {
  const browser = await chromium.launch({
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
    ],
  });
  return process.env.CHROMIUM_COVERAGE ? count(browser, process.env.CHROMIUM_COVERAGE) : browser;
}
