import { serve } from '../src/build/server.js';
import { launch } from './support/chromium.js';
import { fileURLToPath } from 'node:url';
const site = fileURLToPath(new URL('../dist/site', import.meta.url));
const server = await serve({ root: site });
const browser = await launch();
const shots = JSON.parse(process.argv[2]);
for (const { name, hash, width = 1440, height = 900, dark = false, act, locale='en-GB', wait } of shots) {
  const page = await browser.newPage({ viewport: { width, height }, locale, colorScheme: dark ? 'dark' : 'light' });
  page.on('console', (m) => /error|warning/.test(m.type()) && console.log(name, m.text()));
  page.on('pageerror', (e) => console.log(name, e.message));
  await page.addInitScript(() => { try { localStorage.setItem('first', 'seen'); } catch {} globalThis.part = (s) => document.querySelector('body > div')?.shadowRoot.querySelector(s); });
  const t = Date.now();
  await page.goto(`${server.url}#${hash}`);
  try { await page.waitForFunction(wait ?? (() => part('.circuit-panel') && part('.circuit-list li') && !part('.circuit-work')), null, { timeout: 60000 }); } catch (e) { console.log(name, 'not done'); }
  console.log(name, 'ms', Date.now() - t);
  if (act) { await page.evaluate(act); await page.waitForTimeout(1500); }
  await page.screenshot({ path: `/tmp/shot-${name}.png`, fullPage: width < 900 });
  console.log(name, await page.evaluate(() => part('[data-name=kept]')?.textContent));
  await page.close();
}
await browser.close(); await server.close(); process.exit(0);
