// Tests threads: results have the same bits for any number of threads, and workers start and end with their instance.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { load } from 'headlight-attention';
import { load as loadInline } from 'headlight-attention/inline';
import { BUILD } from '../../../dist/abi/abi.js';
import { someFlavours } from '../../support/headlight.js';

const run = promisify(execFile);
const entry = new URL('../../../dist/headlight.node.js', import.meta.url).href;
/**
 * Runs a separate program, which must end by itself, and returns its output. `before` runs before the module is loaded
 * and may change Node's built-in modules.
 */
const program = async (body, { before = '', flags = [], shell = '', ends = true } = {}) => {
  const code = `
    import { syncBuiltinESMExports } from 'node:module';
    import workers from 'node:worker_threads';
    ${before}
    syncBuiltinESMExports();
    const print = (value) => console.log(JSON.stringify(value));
    const { load } = await import('${entry}');
    ${body}`;
  const args = [...flags, '--input-type=module', '-e', code];
  const options = { timeout: 300_000 };
  if (!ends) return firstLine(args);
  if (!shell) return (await run(process.execPath, args, options)).stdout.trim();
  return (await run('bash', ['-c', `${shell}; exec "$@"`, 'bash', process.execPath, ...args], options)).stdout.trim();
};

/** Returns the first line that a program prints, and then kills it, because a hanging worker may keep it running. */
async function firstLine(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const piece of child.stdout) {
    text += piece;
    if (text.includes('\n')) break;
  }
  child.kill('SIGKILL');
  return text.trim();
}

const PROBLEMS = {
  'a layer': (hl) =>
    hl
      .multiHeadAttention({ embedDim: 96, numHeads: 4, seed: 2 })
      .forward(hl.uniform([2, 150, 96], { seed: 1, low: -1 })),
  'a layer with different inputs, grouped heads and appended keys': (hl) =>
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
  'one head with many queries': (hl) =>
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
 * Returns a function that computes the output and gradients of a layer. The division of backward into chunks depends on
 * the number of heads and on the axes over which the bias is broadcast.
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
  'training with a bias that all heads share': train({ embedDim: 64, numHeads: 8 }, [2, 250, 64], { bias: [250, 250] }),
  'training with a bias that all queries share': train({ embedDim: 32, numHeads: 2 }, [1, 500, 32], {
    bias: [2, 1, 500],
  }),
});

for (const {
  info: { simd },
} of someFlavours) {
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

test('thousands of short calls on several threads give the same result', async () => {
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

test('with fewer chunks than workers, no worker writes outside the workspace', async () => {
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

for (const cores of [1, 3, 64]) {
  test(`threads: 'auto' uses all cores, at most eight: with ${cores}`, async () => {
    const said = await program(`const hl = await load({ threads: 'auto' }); print(hl.info); hl.dispose();`, {
      before: `import os from 'node:os'; os.availableParallelism = () => ${cores};`,
    });
    const { threads, threadsNote } = JSON.parse(said);
    assert.equal(threads, Math.min(cores, 8));
    assert.equal(threadsNote, undefined);
  });
}

test('each additional thread takes the memory of one stack', async () => {
  const one = await load({ threads: 1 });
  const three = await load({ threads: 3 });
  const each = (three.info.memory.used - one.info.memory.used) / (three.info.threads - 1);
  assert.ok(three.info.threads === 3 && each >= BUILD.STACK && each < 2 * BUILD.STACK, `${each} bytes`);
  for (const hl of [one, three]) hl.dispose();
});

test('memory is freed as with one thread', async () => {
  const hl = await load({ threads: 3 });
  const { used } = hl.info.memory;
  hl.scope(() => void PROBLEMS['a layer'](hl));
  assert.equal(hl.info.memory.used, used);
  hl.dispose();
});

test('views of shared memory stay valid when it grows, and a layer uses values written through them', async () => {
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

test('the memory limit also applies with threads', async () => {
  const hl = await load({ threads: 2, maxMemory: 8 * 2 ** 20 });
  assert.equal(hl.info.memory.limit, 8 * 2 ** 20);
  assert.throws(() => hl.zeros([4e6]), { code: 'OUT_OF_MEMORY' });
  assert.equal(hl.zeros([1e6]).size, 1e6);
  hl.dispose();
});

test('idle, spinning, ended and garbage-collected workers do not keep a program running', async () => {
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

test('if threads cannot start there is one thread, and info has the reason', async () => {
  const inline = await loadInline({ threads: 4 });
  assert.equal(inline.info.threads, 1);
  assert.match(inline.info.threadsNote, /headlight-attention\/inline runs on one thread/);
  const said = await program(
    `delete globalThis.SharedArrayBuffer; const hl = await load({ threads: 4 }); console.log(JSON.stringify(hl.info));`,
  );
  assert.equal(JSON.parse(said).threads, 1);
  assert.match(JSON.parse(said).threadsNote, /shared memory/);
  for (const threads of [0, 1.5, -1, 65, 'many', NaN])
    await assert.rejects(load({ threads }), { code: 'ARGUMENT', parameter: 'threads' });
});

/**
 * Prints the note of an instance that has one thread instead of several, and checks that the instance works and has
 * leaked no memory.
 */
const AFTER = `
  const { threads, threadsNote, memory } = hl.info;
  const right = hl.attention([[[1]]], [[[1], [1]]], [[[2], [4]]]).output.toArray();
  print({ threads, threadsNote, right, used: memory.used, alone: (await load()).info.memory.used });
  process.exit();`;

async function oneThread(said, note) {
  const { threads, threadsNote, right, used, alone } = JSON.parse(await said);
  assert.equal(threads, 1);
  assert.match(threadsNote, note);
  assert.deepEqual(right, [[[3]]]);
  assert.equal(used, alone, 'the stacks are freed');
}

test('if the stacks do not fit there is one thread, and no stacks overlap', () =>
  oneThread(
    program(`const hl = await load({ threads: 6, maxMemory: 262144 }); ${AFTER}`),
    /the stacks of 6 threads, .* do not fit/,
  ));

test('if the code for threads is missing there is one thread, and info has the reason', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const dist = fileURLToPath(new URL('../../../dist', import.meta.url));
  for (const name of readdirSync(dist).filter((name) => /^headlight\.(node\.js|\w+\.wasm)$/.test(name)))
    cpSync(join(dist, name), join(folder, name));
  const filter = (/** @type {string} */ name) => !/threads-/.test(name);
  cpSync(join(dist, 'parts'), join(folder, 'parts'), { recursive: true, filter });
  cpSync(join(dist, '../package.json'), join(folder, 'package.json'));
  const { load } = await import(pathToFileURL(join(folder, 'headlight.node.js')).href);
  const { threads, threadsNote } = (await load({ threads: 2 })).info;
  assert.equal(threads, 1);
  assert.match(threadsNote, /^the code for threads was not loaded: Cannot find module/);
});

test('if a worker cannot be created, or fails at once, there is one thread', async () => {
  const second = (then) => `
    let made = 0;
    const Worker = workers.Worker;
    workers.Worker = class extends Worker {
      constructor(code, options) {
        super(++made === 2 ? ${then} : code, options);
      }
    };`;
  const body = `const hl = await load({ threads: 4 }); ${AFTER}`;
  const refused = second(`(() => { throw new Error('not allowed'); })()`);
  await oneThread(program(body, { before: refused }), /a worker did not start: not allowed/);
  await oneThread(program(body, { before: second(`'throw new Error("broken")'`) }), /a worker did not start: broken/);
  await oneThread(
    program(body, { before: second(`'process.exit(3)'`) }),
    /a worker did not start: it ended with code 3/,
  );
});

test('if one worker does not start, the others end', async () => {
  const said = await program(
    `await load({ threads: 4 });
     while ((process.report.getReport().workers ?? []).length > 0) await new Promise((r) => setTimeout(r, 20));
     console.log('none left');`,
    {
      before: `
        let made = 0;
        const Worker = workers.Worker;
        workers.Worker = class extends Worker {
          constructor(code, options) {
            super(++made === 3 ? 'throw new Error("broken")' : code, options);
          }
        };`,
    },
  );
  assert.equal(said, 'none left');
});

test('the wait for a worker that never responds is limited', () =>
  oneThread(
    program(`const hl = await load({ threads: 3 }); ${AFTER}`, {
      before: `
        const Worker = workers.Worker;
        workers.Worker = class extends Worker {
          constructor(code, options) {
            super('setInterval(() => {}, 1000)', options);
          }
        };
        const later = setTimeout;
        globalThis.setTimeout = (fn, ms, ...args) => later(fn, ms / 20, ...args);`,
    }).then((said) => JSON.stringify({ ...JSON.parse(said), used: 0, alone: 0 })),
    /a worker did not start: it was not ready after 20 s/,
  ));

test("if Node's permission model forbids workers, there is one thread", () => {
  const permission = Number(process.versions.node.split('.')[0]) < 24 ? '--experimental-permission' : '--permission';
  return oneThread(
    program(`const hl = await load({ threads: 2 }); ${AFTER}`, { flags: [permission, '--allow-fs-read=*'] }),
    /a worker did not start: Access to this API has been restricted/,
  );
});

test('the program of a worker declares no name of a module wrapper, such as those of Bun and Deno', async () => {
  const said = await program(
    `const hl = await load({ threads: 2 });
     new Function('exports', 'require', 'module', '__filename', '__dirname', text);
     print(hl.info.threads);
     hl.dispose();`,
    {
      before: `
        let text;
        const Worker = workers.Worker;
        workers.Worker = class extends Worker {
          constructor(code, options) {
            super(code, options);
            text = code;
          }
        };`,
    },
  );
  assert.equal(said, '2');
});

test('if the address space is too small there is one thread, or an error with the reason', {
  skip: process.platform !== 'linux' && 'needs Linux',
}, async () => {
  const said = await program(
    `try {
       const hl = await load({ threads: 8 });
       const { threads, threadsNote } = hl.info;
       print({ threads, threadsNote, size: hl.zeros([10]).size });
     } catch ({ code, message }) {
       print({ code, message });
     }`,
    { shell: 'ulimit -v 6291456' },
  );
  const { threads, threadsNote, size, code, message } = JSON.parse(said);
  if (code === undefined) {
    assert.equal(threads, 1);
    assert.match(threadsNote, /address space.*ulimit -v|no shared memory/);
    assert.equal(size, 10);
  } else {
    // Node 20 reserves 10 GiB of address space for any WebAssembly memory.
    assert.equal(code, 'OUT_OF_MEMORY');
    assert.match(message, /the engine cannot allocate memory/);
  }
});

test('with less shared memory than requested the limit is lower, and without any there is one thread', async () => {
  const refuse = (most) => `
    const { Memory } = WebAssembly;
    WebAssembly.Memory = function (limits) {
      if (limits.shared && limits.maximum > ${most}) throw new RangeError('too much');
      return new Memory(limits);
    };`;
  const said = await program(
    `const hl = await load({ threads: 2 });
     const { threads, memory } = hl.info;
     let code;
     try { hl.zeros([2 ** 27]); } catch (error) { code = error.code; }
     print({ threads, limit: memory.limit, code });
     hl.dispose();`,
    { before: refuse(5000) },
  );
  assert.deepEqual(JSON.parse(said), { threads: 2, limit: 4096 * 65536, code: 'OUT_OF_MEMORY' });
  await oneThread(
    program(`const hl = await load({ threads: 2 }); ${AFTER}`, { before: refuse(0) }),
    /cannot allocate shared memory.*too much/,
  );
});

/**
 * Starts the workers of an instance from an intermediate worker, which can end them while the instance computes. The
 * clock runs 200 times as fast, so that a dead worker is detected within a fraction of a second.
 */
const KILLABLE = `
  const manager = \`
    const { Worker, parentPort, workerData } = require('node:worker_threads');
    const worker = new Worker(workerData.code, { eval: true, execArgv: [], workerData: workerData.post });
    worker.on('error', () => {});
    worker.on('exit', () => process.exit());
    worker.on('message', (message) => parentPort.postMessage(message));
    parentPort.on('message', (after) => setTimeout(() => worker.terminate(), after));
  \`;
  const Worker = workers.Worker;
  let handle;
  workers.Worker = class extends Worker {
    constructor(code, options) {
      const workerData = { code: globalThis.change?.(code) ?? code, post: options.workerData };
      super(manager, { eval: true, execArgv: [], workerData });
      handle = this;
    }
  };
  const clock = performance.now.bind(performance);
  performance.now = () => 200 * clock();`;

/** Runs a long call of attention, ends a worker meanwhile, and then prints the state of the instance. */
const LOSE = `
  let hl, inputs, used, error;
  const attend = () => hl.attention(...inputs).output;
  // If the worker ends between two calls, no call throws an error, so the loop tries again with another instance.
  while (!error) {
    hl = await load({ threads: 2 });
    inputs = [1, 2, 3].map((seed) => hl.randn([1, 1, 6000, 64], { seed }));
    used = hl.info.memory.used;
    handle.postMessage(30);
    while (!error && hl.info.threads > 1) {
      try { attend().dispose(); } catch (thrown) { error = thrown; }
      await new Promise((r) => setTimeout(r));
    }
  }
  const back = hl.info.memory.used === used;
  const { threads, threadsNote } = hl.info;
  const alone = await load();
  const expected = alone.attention(...inputs.map((x) => ({ data: x.copy(), shape: x.shape }))).output.copy();
  const right = attend().copy().every((y, i) => y === expected[i]);
  print({ name: error?.name, code: error?.code, message: error?.message, threads, threadsNote, back, right });`;

for (const [how, change] of Object.entries({
  'is ended': '',
  traps: `globalThis.change = (code) => code.replace('core.hl_pool_work(post.number)',
    'setTimeout(() => {}, 1e6); core.__stack_pointer.value = 64; core.hl_pool_work(post.number)');`,
})) {
  test(`a call whose worker ${how} meanwhile throws an error, and the instance continues with one thread`, async () => {
    const said = JSON.parse(await program(LOSE, { before: KILLABLE + change, ends: false }));
    assert.equal(said.name, 'HeadlightError', JSON.stringify(said));
    assert.equal(said.code, 'STATE');
    assert.match(said.message, /attention: a worker ended during a call; this instance continues with one thread/);
    assert.equal(said.threads, 1);
    assert.match(said.threadsNote, /a worker ended/);
    assert.ok(said.back, 'memory is freed');
    assert.ok(said.right, 'the next call gives the correct result');
  });
}

test('if a worker ends between calls, one thread remains', async () => {
  const said = await program(
    `const hl = await load({ threads: 3 });
     handles[0].terminate();
     while (hl.info.threads > 1) await new Promise((r) => setTimeout(r, 10));
     const x = hl.uniform([1, 300, 64], { seed: 1 });
     const { output } = hl.multiHeadAttention({ embedDim: 64, numHeads: 4 }).forward(x);
     print({ note: hl.info.threadsNote, size: output.size });`,
    {
      before: `
        const handles = [];
        const Worker = workers.Worker;
        workers.Worker = class extends Worker {
          constructor(...args) {
            super(...args);
            handles.push(this);
          }
        };`,
    },
  );
  const { note, size } = JSON.parse(said);
  assert.match(note, /a worker ended: code 1/);
  assert.equal(size, 300 * 64);
});

test('threads run as long as a layer or a tensor of the instance is reachable', async () => {
  const count = `(process.report.getReport().workers ?? []).length`;
  const said = await program(
    `const make = async () => (await load({ threads: 2 })).multiHeadAttention({ embedDim: 64, numHeads: 4 });
     const collect = async () => { for (let i = 0; i < 20; i++) { gc(); await new Promise((r) => setTimeout(r, 5)); } };
     let layer = await make();
     await collect();
     const before = ${count};
     const size = layer.forward({ data: new Float32Array(300 * 64), shape: [1, 300, 64] }).output.size;
     layer = undefined;
     while (${count} > 0) await collect();
     print({ before, size });`,
    { flags: ['--expose-gc'] },
  );
  assert.deepEqual(JSON.parse(said), { before: 1, size: 300 * 64 });
});
