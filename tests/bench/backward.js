// ./build.sh bench backward: runs attention forward and backward in turns, in the Node that runs npm and in the newer
// Node that the tests use. Prints how many times as long backward takes as forward, as the median ratio of the turns
// and as the ratio of the minimum times. Also prints the memory that training takes at two sequence lengths.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { load } from '../../dist/headlight.node.js';
import { median } from './measure.js';

const [ROUNDS, H, T, D] = [21, 8, 1024, 64];

async function measure() {
  const hl = await load();
  const [q, k, v, dOutput] = [1, 2, 3, 4].map((seed) => hl.randn([1, H, T, D], { seed }));
  const [forward, backward] = [[], []];
  for (let round = 0; round < ROUNDS + 2; round++) {
    hl.scope(() => {
      const start = performance.now();
      hl.attention(q, k, v);
      const half = performance.now();
      const trained = hl.attention(q, k, v, { train: true });
      const before = performance.now();
      trained.backward(dOutput);
      if (round < 2) return;
      forward.push(half - start);
      backward.push(performance.now() - before);
    });
  }
  console.log(
    [
      `Node ${process.versions.node.split('.')[0]} (${hl.info.simd}), ${H} heads, ${T} × ${T} × ${D}: `,
      `forward ${median(forward).toFixed(1)} ms, backward ${median(backward).toFixed(1)} ms, `,
      `${median(backward.map((ms, i) => ms / forward[i])).toFixed(2)} times, `,
      `ratio of the minimum times ${(Math.min(...backward) / Math.min(...forward)).toFixed(2)}`,
    ].join(''),
  );
  hl.dispose();
  for (const length of [4096, 16384]) {
    const one = await load();
    const x = one.randn([1, 1, length, D], { seed: 1 });
    const before = one.info.memory.reserved;
    one.scope(() => one.attention(x, x, x, { train: true }).backward(x));
    console.log(
      `  one head, ${length} tokens, forward and backward:`,
      `${((one.info.memory.reserved - before) / 2 ** 20).toFixed(0)} MiB more`,
    );
    one.dispose();
  }
}

if (process.argv.includes('--here')) await measure();
else {
  const program = fileURLToPath(import.meta.url);
  for (const node of [process.execPath, fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url))])
    spawnSync(node, [program, '--here'], { stdio: 'inherit' });
}
