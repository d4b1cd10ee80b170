// npm run bench: compares Headlight with other packages, in every installed Node and in Chromium, with one thread and
// with four. It prints each measurement, then the tables. A run without options writes the tables to results.md and the
// chart to results.svg.
//   --tiny           the smallest shapes in one round with one thread, to check that the program runs
//   --only 'BERT'    only shapes whose name contains the text
//   --no-chromium    Node only

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawChart } from './chart.js';
import { measureInChromium } from './chromium.js';
import { writeTables } from './table.js';

const { values } = parseArgs({
  options: { tiny: { type: 'boolean' }, only: { type: 'string', multiple: true }, 'no-chromium': { type: 'boolean' } },
});
const options = values.tiny
  ? { rounds: 1, slice: 5, budget: 0, only: ['3×5×4/2', '1 query'] }
  : { rounds: 9, slice: 20, budget: 4000, only: values.only };
const folder = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Runs a program and yields every line that it prints, parsed as JSON. */
async function* lines(program, ...args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('close', resolve));
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('{')) yield JSON.parse(line);
  const code = await ended;
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

const engines = [
  {
    name: `Node ${process.versions.node.split('.')[0]}`,
    measure: (options) => lines(process.execPath, folder('node.js'), JSON.stringify(options)),
  },
  {
    name: 'Node 24',
    measure: (options) => lines(folder('../../node_modules/node/bin/node'), folder('node.js'), JSON.stringify(options)),
  },
  ...(values['no-chromium'] ? [] : [{ name: 'Chromium', measure: measureInChromium }]),
];

const results = [];
for (const { name, measure } of engines) {
  for (const threads of values.tiny ? [1] : [1, 4]) {
    for await (const result of measure({ ...options, threads })) {
      results.push({ engine: name, threads, ...result });
      if (result.peak)
        console.log(
          `${name}, ${threads} thread${threads > 1 ? 's' : ''}:`,
          `the peak of a core is ${result.peak.toFixed(1)} GFLOP/s (${result.simd})`,
        );
      else if (result.failure && result.contender.startsWith('Headlight'))
        throw new Error(`${result.shape}: ${result.failure}`);
      else if (result.failure) console.log(`${result.shape}  ${result.contender} fails: ${result.failure}`);
      else
        console.log(
          [
            result.shape.padEnd(24),
            result.weights ? 'weights' : '       ',
            result.contender.padEnd(34),
            `${(result.median * 1000).toFixed(1)} µs`.padStart(14),
            `${result.rate.toFixed(1)} GFLOP/s`.padStart(15),
            `off by ${result.error.toExponential(1)}`,
          ].join('  '),
        );
    }
  }
}
const tables = writeTables(results, `${cpus()[0].model.trim()}, ${cpus().length} cores`);
if (values.tiny || values.only || values['no-chromium']) console.log(tables);
else {
  writeFileSync(folder('results.md'), tables);
  writeFileSync(folder('results.svg'), drawChart(results));
  console.log('written: tests/bench/results.md, tests/bench/results.svg');
}
