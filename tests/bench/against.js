// ./build.sh bench against FOLDER: compares this build with another build, whose dist/ is FOLDER. The builds take turns
// in one process, first in the Node that runs npm, then in the newer Node that the tests use (node_modules/node). For
// each shape it prints the time of a call of this build and two ratios to the other build: of the minimum times, and
// the median over the rounds. A ratio above 1 means that this build is slower. Options: --only NAME, --rounds N.

import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { median } from './measure.js';
import * as headlight from './peers/headlight.js';
import { makeProblem } from './problem.js';
import { SHAPES } from './shapes.js';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, rounds: { type: 'string', default: '31' }, here: { type: 'boolean' } },
});

/** Approximate milliseconds that one build runs in a round. */
const SLICE = 20;

async function repeat(run, times) {
  const start = performance.now();
  for (let i = 0; i < times; i++) await run();
  return (performance.now() - start) / times;
}

async function compare(shape, withWeights, contenders) {
  const problem = makeProblem(shape);
  const [now, before] = await Promise.all(contenders.map(({ make }) => make(problem, withWeights)));
  if (!now || !before) return;
  for (const { run } of [now, before]) await repeat(run, 3);
  const count = Math.max(1, Math.round(SLICE / (await repeat(now.run, 3))));
  for (const { run } of [now, before]) await repeat(run, 5 * count);
  const [times, others] = [[], []];
  for (let round = 0; round < Number(options.rounds); round++) {
    const turns = [() => repeat(now.run, count).then((ms) => times.push(ms))];
    turns.push(() => repeat(before.run, count).then((ms) => others.push(ms)));
    for (const turn of round % 2 ? turns : turns.reverse()) await turn();
  }
  const least = Math.min(...times);
  const ratios = [least / Math.min(...others), median(times.map((ms, i) => ms / others[i]))];
  const name = `${shape.name}${withWeights ? ', weights' : ''}`;
  const time = `${(1000 * least).toFixed(1)} µs`;
  console.log(`  ${name.padEnd(32)} ${time.padStart(14)}   ${ratios.map((ratio) => ratio.toFixed(3)).join('  ')}`);
  for (const { close } of [now, before]) close?.();
}

async function measure(folder) {
  const entry = (dist) => import(new URL('headlight.node.js', dist).href).then(({ load }) => load);
  const [here, there] = [new URL('../../dist/', import.meta.url), pathToFileURL(`${resolve(folder)}/`)];
  for (const simd of ['relaxed', 'simd128']) {
    const opened = [];
    for (const dist of [here, there]) {
      const load = await entry(dist);
      opened.push(await headlight.open({ load, threads: 1, simd }).catch(() => null));
    }
    if (opened.includes(null)) continue;
    const shapes = SHAPES.filter(({ name, long }) => !long && (!options.only || name.includes(options.only)));
    for (const [i, { name }] of opened[0].entries()) {
      console.log(
        `Node ${process.versions.node.split('.')[0]}, ${name}: time, ratio of the minimum times, median ratio`,
      );
      const pair = opened.map((contenders) => contenders[i]);
      for (const shape of shapes) for (const weights of [false, true]) await compare(shape, weights, pair);
    }
  }
}

const [folder] = positionals;
if (!folder) throw new Error('bench against needs the dist/ folder of another build');
if (options.here) await measure(folder);
else {
  const program = fileURLToPath(import.meta.url);
  for (const node of [process.execPath, fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url))])
    spawnSync(node, [program, '--here', ...process.argv.slice(2)], { stdio: 'inherit' });
}
