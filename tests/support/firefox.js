// Starts the Firefox of the system and controls it over WebDriver BiDi.

import { execFileSync } from 'node:child_process';
import puppeteer from 'puppeteer-core';

const find = () => {
  for (const name of ['firefox-esr', 'firefox']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // Try the next name.
    }
  }
  throw new Error('no Firefox on PATH: ./build.sh test installs it');
};

export const launchFirefox = () =>
  puppeteer.launch({
    browser: 'firefox',
    executablePath: find(),
    headless: true,
    timeout: 300_000,
    protocolTimeout: 600_000,
  });
