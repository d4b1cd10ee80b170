// The worker's part of the Explore view. A question is a state, what of it is shown, and which parts of the answer the
// page has already; the answer is the other parts.

import { toProgram } from '../model/code.js';
import { attentionOptions, EXAMPLES } from '../model/examples.js';
import { toCsv, toNpy, toSafetensors, toSvg } from '../model/export.js';
import { links } from '../model/links.js';
import { makeScale, makeSignedScale } from '../model/scale.js';
import { largest, shrink } from '../model/shrink.js';
import { LINES, regionOf } from '../model/state.js';
import { readTensors, TensorProblem, unpackSources } from '../model/tensors.js';
import { createSolver, TURN } from './solve.js';
import { spareThreads } from './spare.js';

/** @import { Given, Head, Hl, Info, Options, Region } from '../model/types.js' */
/** @import { ScaleKind, Shown, Span, State, Wanted, Whole } from '../model/types.js' */

/** From so many weights on, threads are worth their start. */
const MANY = 2 ** 20;
/** While questions come faster than answers, parts that need every head are made at most this often: milliseconds. */
const EVERY = 120;
const OF_ALL_HEADS = ['heads', 'statistics'];
/** A table has no more rows or columns than these. */
const TABLE = 64;

/** @typedef {NonNullable<Awaited<ReturnType<ReturnType<typeof createSolver>['solve']>>>} Solution */
/** @typedef {(done: number, of: number) => Promise<void>} Turn */

class Cancelled extends Error {}

/** @param {number} T @param {number} S @returns {Region} */
const ofAll = (T, S) => ({ queries: { from: 0, to: T }, keys: { from: 0, to: S } });

/** One head's weights now, less those of the pinned state. @param {Head} now @param {Head} pinned @returns {Head} */
function differenceOf(now, pinned) {
  const weights = now.weights.map((w, i) => w - pinned.weights[i]);
  const other = pinned.visible;
  const visible = now.visible && other ? now.visible.map((seen, i) => Math.max(seen, other[i])) : null;
  return { ...now, weights, visible, signed: true };
}

/**
 * Every part of an answer by its name: what it depends on, and how it is made; what takes long gives others a turn.
 * @param {{ state: State, wanted: Wanted, now: Solution, pinned: Solution | null, turn: Turn }} asked
 */
function partsOf({ state, wanted, now, pinned, turn }) {
  const {
    shape: [, H, T, S],
  } = now.problem;
  const head = Math.min(state.head, H - 1);
  const region = regionOf(state, T, S);
  const comparable = wanted.compare === 'difference' && String(pinned?.problem.shape.slice(1)) === String([H, T, S]);
  const other = comparable ? pinned : null;
  const differs = other !== null;
  const key = [now.key, other?.key].join();
  const of = (/** @type {number} */ h) => {
    if (!other) return now.headOf(h);
    other.compute(h);
    now.compute(h);
    return differenceOf(now.headOf(h), other.headOf(h));
  };
  const marked = new Set([...(state.cell ? [state.cell.query] : []), ...state.also]);
  const queries = [...marked].filter((query) => query < T).sort((a, b) => a - b);
  /** @type {Record<string, [key: string, make: () => unknown]>} */
  const parts = {
    problem: [now.problemKey, () => now.problem],
    facts: [`${now.problemKey},${differs}`, () => ({ info: now.info, differs })],
    heads: [
      `${key},${wanted.small}`,
      async () => {
        await now.computeAll(turn);
        const each = [];
        let since = performance.now();
        for (let h = 0; h < H; h++) {
          each.push(shrink(of(h), ofAll(T, S), { rows: wanted.small, columns: wanted.small }));
          if (performance.now() - since < TURN) continue;
          await turn(h + 1, H);
          since = performance.now();
        }
        return {
          ...each[0],
          values: each.map(({ values }) => values),
          most: Math.max(...each.map(({ values }) => largest(values))),
          milliseconds: now.milliseconds,
        };
      },
    ],
    picture: [
      `${key},${head},${JSON.stringify(region)},${JSON.stringify(wanted.large)}`,
      () => ({ ...shrink(of(head), region, wanted.large), region, head }),
    ],
    cell: [
      `${now.key},${head},${JSON.stringify(state.cell)},${state.off}`,
      () => state.cell && now.cell(head, state.cell),
    ],
  };
  if (state.view === 'lines' && !differs) {
    const rule = LINES[state.lines];
    parts.lines = [
      `${key},${head},${queries},${state.lines},${JSON.stringify(region)}`,
      () => links(now.headOf(head), queries.length > 0 ? queries : null, rule, region),
    ];
  }
  if (wanted.table) {
    const cut = (/** @type {Span} */ { from, to }) => ({ from, to: Math.min(to, from + TABLE) });
    const part = { queries: cut(region.queries), keys: cut(region.keys) };
    parts.table = [
      `${now.key},${head},${JSON.stringify(part)}`,
      () => ({
        ...shrink({ ...now.headOf(head), visible: null }, part, { rows: TABLE, columns: TABLE }),
        region: part,
      }),
    ];
  }
  if (wanted.statistics) parts.statistics = [now.key, now.statistics];
  if (pinned && wanted.compare === 'side') {
    const [, heads, rows, columns] = pinned.problem.shape;
    const same = Math.min(head, heads - 1);
    const shown = regionOf(state, rows, columns);
    parts.pinned = [
      `${pinned.key},${same},${JSON.stringify(shown)},${JSON.stringify(wanted.large)}`,
      () => {
        const picture = shrink(pinned.headOf(same), shown, wanted.large);
        return {
          problem: pinned.problem,
          picture: { ...picture, region: shown, head: same },
          most: largest(picture.values),
        };
      },
    ];
  }
  return parts;
}

/** Pictures are given away, not copied. @param {Shown} [parts] */
const buffersOf = ({ picture, heads, table, pinned } = {}) =>
  [picture?.values, ...(heads?.values ?? []), table?.values, pinned?.picture.values].flatMap(
    (values) => /** @type {ArrayBuffer | undefined} */ (values?.buffer) ?? [],
  );

/**
 * @typedef {object} More what a file needs besides the weights
 * @property {number} batch
 * @property {number} head
 * @property {string} title
 * @property {ScaleKind} kind
 * @property {Options} options
 * @property {Whole} [pinned]
 */

/**
 * Files are made of all that there is, not of what the screen has room for.
 * @type {Record<string, (whole: Whole, more: More) => string | Uint8Array>}
 */
const FILES = {
  csv: (whole, { batch, head }) => toCsv(whole, { batch, head }),
  npy: (whole) => toNpy(whole),
  safetensors: (whole) => toSafetensors(whole),
  svg(whole, { batch, head, pinned, title, kind }) {
    const headOf = (/** @type {Whole} */ { weights, visible, shape: [, H, T, S] }) => {
      const at = (batch * H + head) * T * S;
      return { weights: weights.subarray(at, at + T * S), visible, T, S };
    };
    const palette = { text: '#3a352c', paper: '#fbfaf7', hatch: '#9a9384', query: '#1558c0', key: '#b3261e' };
    const shown = pinned ? differenceOf(headOf(whole), headOf(pinned)) : headOf(whole);
    const scale = pinned
      ? makeSignedScale('light', largest(shown.weights))
      : makeScale('light', largest(whole.weights), kind);
    return toSvg({ head: shown, queries: whole.queries, keys: whole.keys, scale, title, colours: palette });
  },
  code: (whole, { batch, head, title, options }) => toProgram(whole, options, { batch, head, title }),
};

/**
 * @param {(options: { threads: number }) => Promise<Hl>} load
 * @param {() => Promise<Uint8Array>} learnedModel
 * @param {(message: object, transfer?: ArrayBuffer[]) => void} post to the page
 * @returns {(question: { verb: string, id?: number, [more: string]: any }) => Promise<void>} called per question
 */
export function createAnswerer(load, learnedModel, post) {
  const core = load({ threads: 1 });
  core.catch(() => {});
  /** @type {Promise<Hl> | null} */
  let threaded = null;
  const coreFor = (/** @type {number} */ weights) => {
    if (weights < MANY || !globalThis.crossOriginIsolated) return core;
    threaded ??= load({ threads: spareThreads() });
    return threaded;
  };
  const [now, other] = [createSolver(coreFor, learnedModel), createSolver(coreFor, learnedModel)];
  /** A visitor's tensors: the newest, and those of the pinned state. @type {Map<number, Given>} */
  const files = new Map();
  let cancelled = false;
  /** When every head was last computed. */
  let allAt = 0;

  /** Lets messages in, and says how far it is. @type {(id: number) => Turn} */
  const turnFor = (id) => async (done, of) => {
    post({ id, progress: { done, of } });
    await new Promise((resolve) => setTimeout(resolve));
    if (cancelled) throw new Cancelled();
  };
  const givenFor = (/** @type {State} */ state) => (EXAMPLES[state.example].file ? files.get(state.file) : undefined);
  /** @param {{ state: State, pinned: State | null }} asked */
  const solveBoth = async ({ state, pinned }) => [
    await now.solve(state, givenFor(state)),
    pinned ? await other.solve({ ...pinned, head: state.head }, givenFor(pinned)) : null,
  ];

  /** @type {Record<string, (question: any) => Promise<{ parts?: Shown, [more: string]: unknown }>>} */
  const verbs = {
    async show({ id, state, pinned, wanted, have, hurry }) {
      const [solved, compared] = await solveBoth({ state, pinned });
      if (!solved) return { parts: {}, keys: {} };
      /** @type {Record<string, unknown>} */
      const parts = {};
      const makers = partsOf({ state, wanted, now: solved, pinned: compared, turn: turnFor(id) });
      const keys = Object.fromEntries(Object.entries(makers).map(([name, [key]]) => [name, key]));
      const stale = Object.keys(makers).filter((name) => have[name] !== keys[name]);
      const hurried = hurry && have.heads && !stale.includes('problem') && performance.now() - allAt < EVERY;
      const late = hurried ? stale.filter((name) => OF_ALL_HEADS.includes(name)) : [];
      for (const name of stale) {
        // What comes late stays as the page has it.
        if (late.includes(name)) keys[name] = have[name];
        else parts[name] = await makers[name][1]();
        if (name === 'heads') allAt = performance.now();
      }
      return { parts, keys, late: late.length > 0 };
    },
    async make({ state, pinned, what, more }) {
      const [solved, compared] = await solveBoth({ state, pinned });
      const problem = EXAMPLES[state.example].problem(state, givenFor(state));
      if (!solved || !problem) throw new Error('there is nothing to make a file of');
      const options = attentionOptions(state, problem);
      return {
        made: FILES[what](solved.whole(), { ...more, batch: solved.batch, pinned: compared?.whole(), options }),
      };
    },
    async open({ sources, pinned }) {
      const given = readTensors(await unpackSources(sources));
      const id = 1 + Math.max(0, ...files.keys());
      for (const old of files.keys()) if (old !== pinned?.file) files.delete(old);
      files.set(id, { ...given, id });
      return { given: { id, heads: given.query.shape.length === 4 ? given.query.shape[1] : null } };
    },
  };

  return async function hear(question) {
    if (question.verb === 'cancel') {
      cancelled = true;
      return;
    }
    cancelled = false;
    try {
      await core;
      const answer = await verbs[question.verb](question);
      post({ id: question.id, ...answer }, buffersOf(answer.parts));
    } catch (error) {
      if (error instanceof Cancelled) post({ id: question.id, cancelled: true });
      else if (error instanceof TensorProblem)
        post({ id: question.id, problem: { code: error.code, values: error.values } });
      else post({ id: question.id, error: error instanceof Error ? error.message : String(error) });
    }
  };
}
