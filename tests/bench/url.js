// ./build.sh bench url [FOLDER]: opens a checkpoint by its URL in Chromium, over loopback. The time is compared with a
// plain fetch of the same bytes, with a download to a Blob that is then opened, and with another build, whose dist/ is
// FOLDER. All take turns. Prints the medians of the times and of their ratios to the plain fetch in the same round.
// --rounds N, --megabytes N

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch } from '../support/chromium.js';
import { writeCheckpoint } from './checkpoint.js';
import { median } from './measure.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '7' }, megabytes: { type: 'string', default: '270' } },
});

/** Runs one contender in a separate page and returns the time. @param {{ name: string, build: string }} contender */
async function run({ name, build }) {
  const folder = new URL('/model/', location.href).href;
  const file = new URL('model.safetensors', folder);
  const download = async () => (await fetch(file)).blob();
  const { load } = await import(`/${build}/headlight.js`);
  const hl = await load();
  const config = await (await fetch(new URL('config.json', folder))).blob();
  const start = performance.now();
  if (name === 'fetch') await (await fetch(file)).arrayBuffer();
  else if (name === 'Blob') await hl.openModel({ 'config.json': config, 'model.safetensors': await download() });
  else await hl.openModel(folder);
  return performance.now() - start;
}

const contenders = [
  { label: 'fetch to an ArrayBuffer', name: 'fetch', build: 'dist' },
  { label: 'openModel of the URL', name: 'URL', build: 'dist' },
  { label: 'fetch to a Blob, then openModel', name: 'Blob', build: 'dist' },
  ...(positionals.length > 0 ? [{ label: `openModel of ${positionals[0]}`, name: 'URL', build: 'other' }] : []),
];

const folder = await mkdtemp(join(tmpdir(), 'headlight-url-'));
const shape = { type: 'F32', width: 768, mlp: 2048, vocab: 32000 };
const { size } = await writeCheckpoint(folder, { megabytes: Number(values.megabytes), ...shape });
await writeFile(join(folder, 'index.html'), '<!doctype html><title>bench</title>');
const dist = join(import.meta.dirname, '../../dist');
const folders = ['model', folder, 'dist', dist, 'other', resolve(positionals[0] ?? dist)];
const server = spawn(process.execPath, [join(import.meta.dirname, 'fileServer.js'), ...folders], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const port = await new Promise((done) => server.stdout.once('data', (text) => done(Number(text))));
const browser = await launch();
try {
  const times = contenders.map(() => []);
  for (let round = -1; round < Number(values.rounds); round++) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const contender of order) {
      // Opening a new page for each contender frees the memory of the previous one.
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${port}/model/index.html`);
      const time = await page.evaluate(run, contender);
      await page.close();
      // The first round fills the caches of the system.
      if (round >= 0) times[contenders.indexOf(contender)].push(time);
    }
  }
  console.log(`${(size / 1e6).toFixed(0)} MB, ${values.rounds} rounds`);
  for (const [i, { label }] of contenders.entries()) {
    const speed = median(times[i].map((time, round) => times[0][round] / time));
    const rate = `${(size / 1e3 / median(times[i])).toFixed(0)} MB/s`.padStart(9);
    const share = `${(100 * speed).toFixed(0)}% of the speed of fetch`;
    console.log(`${label.padEnd(44)}${(median(times[i]) / 1000).toFixed(2)} s  ${rate}  ${share}`);
  }
} finally {
  await browser.close();
  server.kill();
  await rm(folder, { recursive: true });
}
