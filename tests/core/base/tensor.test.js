import assert from 'node:assert/strict';
import test from 'node:test';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { kernels } from '../../support/kernels.js';
import { inTier } from '../../support/tier.js';

const SEED = 7;
const OK = 0;
const BAD_POINTER = 4;

test(
  `thousands of random blocks never overlap, keep their contents and can all be freed (seed ${SEED})`,
  kernels(({ core }) => {
    const next = uniformSource(SEED);
    const live = [];
    let peak = 0;
    const check = ({ at, count, mark }) => {
      const view = new Uint32Array(core.memory.buffer, at, count);
      assert.ok(
        view.every((x) => x === mark),
        'another block wrote here',
      );
    };
    const round = () => {
      for (let i = 0; i < inTier(6000, 1500); i++) {
        if (live.length > 200 || (live.length > 0 && next() < 0.45)) {
          const [block] = live.splice(Math.floor(next() * live.length), 1);
          check(block);
          assert.equal(core.hl_tensor_free(block.at), OK);
        } else {
          const count = next() < 0.9 ? Math.floor(next() * 500) : Math.floor(next() * 100000);
          const at = core.hl_tensor_alloc(count) >>> 0;
          assert.notEqual(at, 0);
          assert.equal(at % 64, 0);
          const mark = Math.floor(next() * 2 ** 24);
          new Uint32Array(core.memory.buffer, at, count).fill(mark);
          live.push({ at, count, mark });
        }
      }
      for (const block of live.splice(0)) {
        check(block);
        assert.equal(core.hl_tensor_free(block.at), OK);
      }
      assert.equal(core.hl_memory_used(), 0);
      return core.hl_memory_reserved();
    };
    peak = round();
    let last = peak;
    for (let i = 0; i < 4; i++) last = round();
    assert.ok(last <= peak * 1.5, `memory keeps growing: ${peak}, then ${last}`);
  }),
);

test(
  'a freed block is merged with free neighbours, so that one block can use all reserved memory',
  kernels(({ core }) => {
    const orders = { forwards: (i) => i, backwards: (i) => -i, 'every second first': (i) => (i % 2) * 100 + i };
    for (const [name, rank] of Object.entries(orders)) {
      const blocks = Array.from({ length: 10 }, (_, i) => core.hl_tensor_alloc(1000 + i) >>> 0);
      const order = blocks.map((_, i) => i).sort((a, b) => rank(a) - rank(b));
      for (const i of order) core.hl_tensor_free(blocks[i]);
      const at = core.hl_tensor_alloc(10 * 1000) >>> 0;
      assert.equal(at, blocks[0], name);
      core.hl_tensor_free(at);
    }
  }),
);

test(
  'freed memory is reused without growing',
  kernels(({ core }) => {
    const other = [];
    let at = core.hl_tensor_alloc(3e6) >>> 0;
    other.push(core.hl_tensor_alloc(10) >>> 0);
    const reserved = core.hl_memory_reserved();
    for (let i = 0; i < 1000; i++) {
      core.hl_tensor_free(at);
      const again = core.hl_tensor_alloc(3e6) >>> 0;
      assert.equal(again, at);
      at = again;
    }
    assert.equal(core.hl_memory_reserved(), reserved);
    for (const pointer of [at, ...other]) core.hl_tensor_free(pointer);
  }),
);

test(
  'a block that does not fit gives NULL and uses no memory, also for sizes beyond 2³²',
  kernels(({ core }) => {
    for (const count of [2 ** 30, 2 ** 30 + 4, 2 ** 32 + 16, 2 ** 34, 2 ** 60, Infinity, NaN, -1]) {
      assert.equal(core.hl_tensor_alloc(count), 0, `${count}`);
    }
    core.hl_memory_set_limit(4 * 2 ** 20);
    assert.equal(core.hl_memory_limit(), 4 * 2 ** 20);
    assert.equal(core.hl_tensor_alloc(2 ** 20), 0);
    assert.equal(core.hl_memory_used(), 0);
    const at = core.hl_tensor_alloc(2 ** 18) >>> 0;
    assert.notEqual(at, 0);
    assert.ok(core.hl_memory_reserved() <= 4 * 2 ** 20);
    core.hl_tensor_free(at);
  }),
);

test(
  'memory grows to the last bytes below 4 GiB',
  kernels(({ core }) => {
    const at = core.hl_tensor_alloc(2 ** 30 - 2 ** 16) >>> 0;
    assert.notEqual(at, 0);
    assert.equal(core.hl_tensor_alloc(2 ** 20), 0);
    const view = new Float32Array(core.memory.buffer, at, 2 ** 30 - 2 ** 16);
    view[view.length - 1] = 1;
    assert.equal(core.hl_tensor_free(at), OK);
    assert.equal(core.hl_memory_used(), 0);
  }),
);

test(
  'only a live block can be freed, and only once',
  kernels(({ core }) => {
    const [a, b] = [core.hl_tensor_alloc(100) >>> 0, core.hl_tensor_alloc(100) >>> 0];
    for (const wrong of [1, 64, a + 4, a + 64, 2 ** 31])
      assert.equal(core.hl_tensor_free(wrong), BAD_POINTER, `${wrong}`);
    assert.equal(core.hl_tensor_free(0), OK);
    assert.equal(core.hl_tensor_free(a), OK);
    assert.equal(core.hl_tensor_free(a), BAD_POINTER);
    assert.equal(core.hl_tensor_free(b), OK);
    assert.equal(core.hl_tensor_free(b), BAD_POINTER);
    assert.equal(core.hl_memory_used(), 0);
  }),
);

test(
  'a block of size 0 is valid',
  kernels(({ core }) => {
    const [a, b] = [core.hl_tensor_alloc(0) >>> 0, core.hl_tensor_alloc(0) >>> 0];
    assert.ok(a !== 0 && b !== 0 && a !== b);
    assert.equal(core.hl_tensor_free(a), OK);
    assert.equal(core.hl_tensor_free(b), OK);
  }),
);
