// Random calls of every public function, with valid and invalid arguments, with getters that call the module or dispose
// of tensors, and with little free memory. Each call must return a correct result or throw a HeadlightError, all memory
// must be freed, and two fixed calls must give the same bits each time.
//
//   node tests/fuzz/api.js [calls] [seed]

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { HeadlightError, load, Tensor } from 'headlight-attention';
import { makeCall } from './calls.js';
import { isRounded } from './models.js';
import { makeSource } from './source.js';
import { MINE, spoil } from './wrong.js';

const CALLS_OF_AN_EPISODE = 50;
const CODES = ['SHAPE', 'ARGUMENT', 'OUT_OF_MEMORY', 'DISPOSED', 'STATE', 'FORMAT'];
const LIMIT = 2 ** 22;

/** Objects that the calls of an episode have created. All are disposed of at its end. */
class World {
  layers = [];
  simple = [];
  models = [];
  /** KV caches of the models, each with the tokens that it contains. */
  caches = [];
  optimizers = [];
  tensors = [];
  results = [];
  /** Layers on which train() was called. */
  training = new Set();
  /** Results of the last forward of each layer. */
  passes = new Map();
  #kept = [];

  constructor(hl, wrong) {
    this.hl = hl;
    this.wrong = wrong;
  }

  /** Stores all disposable objects of a result. */
  keep(result) {
    if (result instanceof Tensor) this.tensors.push(result);
    else if (typeof result?.backward === 'function' && result.output) this.results.push(result);
    if (typeof result?.dispose === 'function') this.#kept.push(result);
    else if (result !== null && typeof result === 'object' && !ArrayBuffer.isView(result))
      for (const part of Object.values(result)) if (typeof part === 'object') this.keep(part);
    return result;
  }

  /**
   * Stores a tensor whose data is in use as a view. Such a tensor is not disposed of before the end, because its
   * numbers would change.
   */
  hold(tensor) {
    this.#kept.push(tensor);
    return tensor;
  }

  dispose() {
    for (const thing of this.#kept) thing.dispose();
  }
}

/** Allocates almost all memory, so that the next allocations fail. Returns a function that frees it. */
function fill(hl, source) {
  const blocks = [];
  for (let size = 2 ** 19; size >= 16; size /= 2)
    try {
      for (;;) blocks.push(hl.zeros([size]));
    } catch (error) {
      if (error.code !== 'OUT_OF_MEMORY') throw error;
    }
  for (let i = source.below(6); i > 0; i--) blocks.pop()?.dispose();
  return () => {
    for (const block of blocks) block.dispose();
  };
}

/** Replaces the options among the arguments by an object whose getters call the module or dispose of tensors. */
function withGetters(source, world, args) {
  const options = args.at(-1);
  if (options === null || typeof options !== 'object' || Object.getPrototypeOf(options) !== Object.prototype)
    return args;
  const live = {};
  for (const [name, value] of Object.entries(options))
    Object.defineProperty(live, name, {
      enumerable: true,
      get() {
        const x = { data: [1, 2, 3, 4], shape: [1, 2, 2] };
        if (source.chance(0.5)) world.hl.attention(x, x, x).dispose();
        if (source.chance(0.3) && world.layers.length > 0) source.pick(world.layers).options.embedDim.toFixed();
        if (source.chance(0.3) && world.tensors.length > 0) source.pick(world.tensors).dispose();
        return value;
      },
    });
  return [...args.slice(0, -1), live];
}

function describe({ name }, how, error) {
  return `${name}${how ? `, ${how}` : ''}: ${error?.stack ?? error}`;
}

/** Returns two calls that must always give the same bits. */
function makeFixed(hl) {
  const x = hl.randn([2, 3, 5, 4], { seed: 1 });
  const y = hl.randn([2, 5, 6], { seed: 2 });
  const layer = hl.multiHeadAttention({ embedDim: 6, numHeads: 2, seed: 3 });
  const run = () => {
    const results = [hl.attention(x, x, x, { causal: true, weights: true }), layer.forward(y)];
    const bits = [results[0].output.copy(), results[0].weights.copy(), results[1].output.copy()];
    for (const result of results) result.dispose();
    return bits;
  };
  const expected = run();
  return () => assert.deepEqual(run(), expected, 'a repeated call gave different bits');
}

/** Prepares a call with valid arguments, with an invalid one, with getters, or with little free memory. */
function prepare(context) {
  const { source, world } = context;
  const { hl } = world;
  const call = makeCall(context);
  const how = source.pick(['', '', '', 'spoiled', 'spoiled', 'with getters', 'without memory']);
  let { args } = call;
  if (how === 'spoiled') args = spoil(source, args, [...world.wrong(), source.pick(world.tensors)]);
  if (how === 'with getters') args = withGetters(source, world, args);
  for (const trained of [...world.layers, ...world.models]) if (!isRounded(trained)) void trained.gradients;
  const free = how === 'without memory' ? fill(hl, source) : undefined;
  return { context, call, how, args, free, used: hl.info.memory.used, start: performance.now() };
}

/** Checks the result or the error of a call. */
function settle({ context, call, how, free, used, start }, report, { error, result, failed }) {
  const { source, world } = context;
  const { hl } = world;
  const time = performance.now() - start;
  if (failed && !call.keeps && hl.info.memory.used > used)
    assert.fail(describe(call, `${how}, memory was leaked`, error));
  free?.();
  if (time > report.slowest) [report.slowest, report.slowestCall] = [time, `${call.name} ${how}`];
  if (failed) return judgeError({ call, how }, report, error);
  world.keep(result);
  if (how === 'spoiled') {
    report.acceptedSpoiled++;
    call.undo?.();
    return;
  }
  if (call.check && source.chance(0.7)) {
    try {
      call.check(result);
    } catch (wrong) {
      throw new Error(describe(call, `${how}, wrong result`, wrong), { cause: wrong });
    }
    report.checked++;
  }
  call.made?.(result);
}

function judgeError({ call, how }, report, error) {
  report.refused++;
  if (error === MINE && how === 'spoiled') return;
  if (!(error instanceof HeadlightError) || !CODES.includes(error.code)) throw new Error(describe(call, how, error));
  if (error.message.length > 2000)
    throw new Error(`a message of ${error.message.length} characters: ${error.message.slice(0, 200)}`);
  const allowed = {
    '': [],
    spoiled: CODES,
    'with getters': ['DISPOSED', 'STATE'],
    'without memory': ['OUT_OF_MEMORY'],
  }[how];
  // Filling the memory grew it, which detached an argument that is a view of it.
  const ended = how === 'without memory' && /buffer is detached/.test(error.message);
  if (!ended && !allowed.includes(error.code) && !call.refusable?.includes(error.code))
    throw new Error(describe(call, how, error));
  if (error.code === 'OUT_OF_MEMORY' && how === 'without memory') report.failedAllocations++;
}

function runCall(context, report) {
  const prepared = prepare(context);
  const { call, args } = prepared;
  /** Checks the result of a call when its promise settles. Such a call may also throw some errors synchronously. */
  const later = (result) =>
    result.then(
      (value) => settle(prepared, report, { result: value, failed: false }),
      (error) => settle(prepared, report, { error, failed: true }),
    );
  let result;
  try {
    result = call.run(...args);
  } catch (error) {
    return settle(prepared, report, { error, failed: true });
  }
  return call.later ? later(result) : settle(prepared, report, { result, failed: false });
}

/** Runs some calls with a new World, some of them in scopes. */
async function runEpisode(hl, wrong, seed, calls, report) {
  const source = makeSource(seed);
  const { used } = hl.info.memory;
  const world = new World(hl, wrong);
  for (let i = 0; i < calls; i++) {
    try {
      if (source.chance(0.05)) hl.scope(() => runPassing({ source, world }, report));
      else await runCall({ source, world }, report);
    } catch (error) {
      throw new Error(`call ${i} of the episode with seed ${seed}: ${error.message}`, { cause: error });
    }
    report.calls++;
  }
  world.dispose();
  const lost = hl.info.memory.used - used;
  if (lost !== 0) throw new Error(`${lost} bytes were leaked in the episode with seed ${seed}`);
}

/** Runs calls in a scope, which frees the objects that they create. */
function runPassing({ source, world }, report) {
  const passing = new World(world.hl, world.wrong);
  for (let i = source.below(4); i >= 0; i--) runCall({ source, world: passing, still: true }, report);
  // Caches are not freed by a scope.
  passing.dispose();
}

/**
 * @param {number} total number of calls
 * @param {number} seed
 */
export async function fuzzApi(total, seed) {
  const [hl, other] = await Promise.all([load({ maxMemory: LIMIT }), load({ maxMemory: LIMIT })]);
  const foreign = other.zeros([2, 3]);
  const gone = hl.zeros([2, 3]);
  gone.dispose();
  const wrong = () => [foreign, gone];
  const checkFixed = makeFixed(hl);
  const report = {
    calls: 0,
    checked: 0,
    refused: 0,
    acceptedSpoiled: 0,
    failedAllocations: 0,
    slowest: 0,
    slowestCall: '',
  };
  for (let episode = 0; report.calls < total; episode++) {
    await runEpisode(hl, wrong, seed + episode, Math.min(CALLS_OF_AN_EPISODE, total - report.calls), report);
    checkFixed();
  }
  hl.dispose();
  other.dispose();
  return report;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [total = 100_000, seed = 1] = process.argv.slice(2).map(Number);
  console.log(`${total} calls, seed ${seed}`);
  console.log(await fuzzApi(total, seed));
}
