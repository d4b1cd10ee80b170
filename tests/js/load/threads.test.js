// Threads: the same bits for any number of them, and workers that come and go with their instance.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import test from 'node:test';
import { promisify } from 'node:util';
import { load } from 'headlight';
import { load as loadInline } from 'headlight/inline';
import { flavours } from '../../support/headlight.js';

const run = promisify(execFile);
const entry = new URL('../../../dist/headlight.node.js', import.meta.url).href;
/** A program of its own, which must end by itself; what it prints. */
const program = async (body) =>
  (
    await run(process.execPath, ['--input-type=module', '-e', `import { load } from '${entry}'; ${body}`], {
      timeout: 20_000,
    })
  ).stdout.trim();

const PROBLEMS = {
  'a layer': (hl) =>
    hl
      .multiHeadAttention({ embedDim: 96, numHeads: 4, seed: 2 })
      .forward(hl.uniform([2, 150, 96], { seed: 1, low: -1 })),
  'a layer across, grouped, with appended keys': (hl) =>
    hl
      .multiHeadAttention({
        embedDim: 64,
        numHeads: 4,
        kvHeads: 2,
        keyDim: 40,
        valueDim: 24,
        biasKV: true,
        zeroAttention: true,
        seed: 2,
      })
      .forward(
        hl.uniform([3, 70, 64], { seed: 1 }),
        hl.uniform([3, 90, 40], { seed: 2 }),
        hl.uniform([3, 90, 24], { seed: 3 }),
        { weights: true },
      ),
  'one head of many queries': (hl) =>
    hl.attention(
      hl.randn([1, 1, 1500, 32], { seed: 1 }),
      hl.randn([1, 1, 700, 32], { seed: 2 }),
      hl.randn([1, 1, 700, 32], { seed: 3 }),
    ),
  'causal, with weights': (hl) =>
    hl.attention(
      hl.randn([1, 3, 500, 16], { seed: 1 }),
      hl.randn([1, 3, 500, 16], { seed: 2 }),
      hl.randn([1, 3, 500, 16], { seed: 3 }),
      { causal: true, weights: true },
    ),
  'the mean of the weights': (hl) =>
    hl.attention(
      hl.randn([1, 8, 400, 16], { seed: 1 }),
      hl.randn([1, 8, 300, 16], { seed: 2 }),
      hl.randn([1, 8, 300, 16], { seed: 3 }),
      { weights: 'mean' },
    ),
  dropout: (hl) =>
    hl.attention(
      hl.randn([2, 4, 200, 16], { seed: 1 }),
      hl.randn([2, 4, 200, 16], { seed: 2 }),
      hl.randn([2, 4, 200, 16], { seed: 3 }),
      { dropout: { p: 0.3, seed: 5 }, window: [50, -1] },
    ),
  'int8 weights': (hl) =>
    hl
      .multiHeadAttention({ embedDim: 96, numHeads: 4, seed: 2, weights: 'int8' })
      .forward(hl.uniform([2, 150, 96], { seed: 1, low: -1 })),
  'one row': (hl) =>
    hl
      .multiHeadAttention({ embedDim: 512, numHeads: 8, seed: 2 })
      .forward(hl.uniform([1, 1, 512], { seed: 1 }), hl.uniform([1, 64, 512], { seed: 2 })),
};

/**
 * Output and gradients; the sharing of backward changes with few heads, and with what adds to one and the same bias.
 */
const train =
  (options, inputs, forward = {}) =>
  (hl) => {
    const layer = hl.multiHeadAttention({ seed: 2, ...options });
    const x = hl.uniform(inputs, { seed: 1, low: -1 });
    const { output } = layer.forward(x, {
      ...forward,
      bias: forward.bias && hl.randn(forward.bias, { seed: 3 }),
      train: true,
    });
    const { dQuery, dBias } = layer.backward(hl.uniform(output.shape, { seed: 4, low: -1 }));
    return {
      output,
      weights: hl.tensor([dQuery, dBias, ...Object.values(layer.gradients)].flatMap((g) => (g ? [...g.data] : []))),
    };
  };
Object.assign(PROBLEMS, {
  training: train({ embedDim: 96, numHeads: 4, kvHeads: 2, dropout: 0.2, biasKV: true }, [2, 150, 96]),
  'training of one head': train({ embedDim: 32, numHeads: 1 }, [1, 700, 32], { causal: true }),
  'training with a bias for all heads': train({ embedDim: 64, numHeads: 8 }, [2, 250, 64], { bias: [250, 250] }),
  'training with a bias for all queries': train({ embedDim: 32, numHeads: 2 }, [1, 500, 32], { bias: [2, 1, 500] }),
});

for (const {
  info: { simd },
} of flavours) {
  test(`the same bits with 1, 2, 3 and 4 threads, ${simd}`, async () => {
    const counts = [1, 2, 3, 4];
    const instances = await Promise.all(counts.map((threads) => load({ threads, simd })));
    assert.deepEqual(
      instances.map((hl) => hl.info.threads),
      counts,
    );
    for (const [name, problem] of Object.entries(PROBLEMS)) {
      const [alone, ...others] = instances.map((hl) =>
        hl.scope(() => {
          const { output, weights } = problem(hl);
          return [output.copy(), weights?.copy()];
        }),
      );
      others.forEach((result, i) => assert.deepEqual(result, alone, `${name}, ${counts[i + 1]} threads`));
    }
    for (const hl of instances) hl.dispose();
  });
}

test('thousands of short calls, each shared out, agree', async () => {
  const [one, four] = await Promise.all([load(), load({ threads: 4 })]);
  const make = (hl) => ({
    layer: hl.multiHeadAttention({ embedDim: 64, numHeads: 4 }),
    x: hl.uniform([1, 48, 64], { seed: 4 }),
  });
  const [alone, shared] = [make(one), make(four)];
  const expected = alone.layer.forward(alone.x).output.copy();
  const out = four.zeros([1, 48, 64]);
  for (let i = 0; i < 3000; i++) {
    out.data.fill(7);
    shared.layer.forward(shared.x, { out });
    assert.deepEqual(out.data, expected);
  }
  four.dispose();
});

test('with fewer chunks than workers no worker writes outside the workspace', async () => {
  const hl = await load({ threads: 4 });
  const [q, k, v] = [1, 2, 3].map((seed) => hl.randn([1, 2, 90, 64], { seed }));
  const expected = hl.attention(q, k, v).output;
  const [out, marks] = [hl.zeros([1, 2, 90, 64]), hl.zeros([200_000])];
  marks.dispose();
  const small = Array.from({ length: 60 }, () => hl.zeros([500]));
  for (let i = 0; i < 300; i++) {
    assert.deepEqual(hl.attention(q, k, v, { out }).output.data, expected.data);
    assert.ok(small.every(({ data }) => data[0] === 0 && data[499] === 0));
  }
  hl.dispose();
});

test("'auto' takes the cores there are, at most eight; memory is given back as with one thread", async () => {
  const hl = await load({ threads: 'auto' });
  assert.equal(hl.info.threads, Math.min(availableParallelism(), 8));
  assert.equal(hl.info.threadsNote, undefined);
  const { used } = hl.info.memory;
  hl.scope(() => void PROBLEMS['a layer'](hl));
  assert.equal(hl.info.memory.used, used);
  hl.dispose();
});

test('views of a shared memory stay valid where it grows, and a layer sees what is written through them', async () => {
  const hl = await load({ threads: 2 });
  const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
  const view = layer.parameters.wv.data;
  const x = hl.uniform([1, 3, 8], { seed: 1 });
  const before = layer.forward(x).output.copy();
  hl.zeros([3e6]);
  view.fill(0);
  assert.notDeepEqual(layer.forward(x).output.copy(), before);
  assert.ok(layer.forward(x).output.data.every((y) => y === 0));
  hl.dispose();
});

test('the limit of the memory holds with threads, too', async () => {
  const hl = await load({ threads: 2, maxMemory: 8 * 2 ** 20 });
  assert.equal(hl.info.memory.limit, 8 * 2 ** 20);
  assert.throws(() => hl.zeros([4e6]), { code: 'OUT_OF_MEMORY' });
  assert.equal(hl.zeros([1e6]).size, 1e6);
  hl.dispose();
});

test('workers do not keep a program alive: idle, spinning, disposed of or garbage-collected', async () => {
  const work = 'hl.attention(hl.randn([8, 300, 32], {}), hl.randn([8, 300, 32], {}), hl.randn([8, 300, 32], {}));';
  assert.equal(await program(`const hl = await load({ threads: 3 }); ${work} console.log(hl.info.threads);`), '3');
  assert.equal(
    await program(
      `const hl = await load({ threads: 3 });
      await new Promise((r) => setTimeout(r, 100)); ${work} hl.dispose(); console.log('done');`,
    ),
    'done',
  );
  assert.equal(
    await program(
      `for (let i = 0; i < 5; i++) (await load({ threads: 2 })).dispose(); console.log('done'); process.exit();`,
    ),
    'done',
  );
});

test('dispose() ends the workers', async () => {
  const count = `(process.report.getReport().workers ?? []).length`;
  const body = `const hl = await load({ threads: 3 }); const before = ${count}; hl.dispose();
    await new Promise((r) => setTimeout(r, 300)); console.log(before, ${count});`;
  assert.equal(await program(body), '2 0');
});

test('where threads cannot start there is one, and info says why', async () => {
  const inline = await loadInline({ threads: 4 });
  assert.equal(inline.info.threads, 1);
  assert.match(inline.info.threadsNote, /headlight\/inline runs on one thread/);
  const said = await program(
    `delete globalThis.SharedArrayBuffer; const hl = await load({ threads: 4 }); console.log(JSON.stringify(hl.info));`,
  );
  assert.equal(JSON.parse(said).threads, 1);
  assert.match(JSON.parse(said).threadsNote, /shared memory/);
  for (const threads of [0, 1.5, -1, 65, 'many', NaN])
    await assert.rejects(load({ threads }), { code: 'ARGUMENT', parameter: 'threads' });
});
