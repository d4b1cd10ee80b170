// What the worker does: a question in is a state and what of it is looked at, a message out the parts that have
// changed since the last answer.

import { toProgram } from '../model/code.js';
import { attentionOptions, EXAMPLES } from '../model/examples.js';
import { toCsv, toNpy, toSafetensors, toSvg } from '../model/export.js';
import { links } from '../model/links.js';
import { makeScale, makeSignedScale } from '../model/scale.js';
import { largest, shrink } from '../model/shrink.js';
import { LINES, regionOf } from '../model/state.js';
import { readTensors, TensorProblem } from '../model/tensors.js';
import { createSolver, TURN } from './solve.js';
import { spareThreads } from './spare.js';

/** From so many weights on, threads are worth their start. */
const MANY = 2 ** 20;
/** While questions come faster than answers, what needs every head is made anew not more often than this: milliseconds. */
const EVERY = 120;
const OF_ALL_HEADS = ['heads', 'statistics'];
/** A table has no more rows or columns than these. */
const TABLE = 64;

class Cancelled extends Error {}

const ofAll = (T, S) => ({ queries: { from: 0, to: T }, keys: { from: 0, to: S } });

/** One head's weights now, less what they are in what is held. */
function differenceOf(now, held) {
  const weights = now.weights.map((w, i) => w - held.weights[i]);
  const visible = now.visible && held.visible ? now.visible.map((seen, i) => Math.max(seen, held.visible[i])) : null;
  return { ...now, weights, visible, signed: true };
}

/** Every part of an answer by its name: what it depends on, and how it is made; what takes long gives others a turn. */
function partsOf({ state, look, now, held, turn }) {
  const {
    shape: [, H, T, S],
  } = now.problem;
  const head = Math.min(state.head, H - 1);
  const region = regionOf(state, T, S);
  const differs = look.compare === 'difference' && held && String(held.problem.shape.slice(1)) === String([H, T, S]);
  const key = [now.key, differs && held.key].join();
  const of = (h) => {
    if (!differs) return now.headOf(h);
    held.compute(h);
    now.compute(h);
    return differenceOf(now.headOf(h), held.headOf(h));
  };
  const queries = [...new Set([state.cell?.query, ...state.also])].filter((query) => query < T).sort((a, b) => a - b);
  const parts = {
    problem: [now.problemKey, () => now.problem],
    facts: [`${now.problemKey},${differs}`, () => ({ info: now.info, differs })],
    heads: [
      `${key},${look.small}`,
      async () => {
        await now.computeAll(turn);
        const each = [];
        let since = performance.now();
        for (let h = 0; h < H; h++) {
          each.push(shrink(of(h), ofAll(T, S), { rows: look.small, columns: look.small }));
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
      `${key},${head},${JSON.stringify(region)},${JSON.stringify(look.large)}`,
      () => ({ ...shrink(of(head), region, look.large), region, head }),
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
  if (look.table) {
    const cut = ({ from, to }) => ({ from, to: Math.min(to, from + TABLE) });
    const part = { queries: cut(region.queries), keys: cut(region.keys) };
    parts.table = [
      `${now.key},${head},${JSON.stringify(part)}`,
      () => ({
        ...shrink({ ...now.headOf(head), visible: null }, part, { rows: TABLE, columns: TABLE }),
        region: part,
      }),
    ];
  }
  if (look.statistics) parts.statistics = [now.key, now.statistics];
  if (held && look.compare === 'side') {
    const [, heads, rows, columns] = held.problem.shape;
    const other = Math.min(head, heads - 1);
    const shown = regionOf(state, rows, columns);
    parts.held = [
      `${held.key},${other},${JSON.stringify(shown)},${JSON.stringify(look.large)}`,
      () => {
        const picture = shrink(held.headOf(other), shown, look.large);
        return {
          problem: held.problem,
          picture: { ...picture, region: shown, head: other },
          most: largest(picture.values),
        };
      },
    ];
  }
  return parts;
}

/** Pictures are given away, not copied. */
const buffersOf = ({ picture, heads, table, held } = {}) =>
  [picture, ...(heads?.values ?? []), table, held?.picture].flatMap(
    (part) => part?.values?.buffer ?? part?.buffer ?? [],
  );

/** Files are made of all that there is, not of what the screen has room for. */
const FILES = {
  csv: (whole, { batch, head }) => toCsv(whole, { batch, head }),
  npy: (whole) => toNpy(whole),
  safetensors: (whole) => toSafetensors(whole),
  svg(whole, { batch, head, held, title, kind }) {
    const headOf = ({ weights, scores, shape: [, H, T, S] }) => {
      const at = (batch * H + head) * T * S;
      return { weights: weights.subarray(at, at + T * S), scores: scores.subarray(at, at + T * S), T, S };
    };
    const palette = { text: '#3a352c', paper: '#fbfaf7', hatch: '#9a9384', query: '#1558c0', key: '#b3261e' };
    let shown = headOf(whole);
    if (held) {
      const before = headOf(held);
      shown = {
        ...shown,
        weights: shown.weights.map((w, i) => w - before.weights[i]),
        scores: shown.scores.map((score, i) => Math.max(score, before.scores[i])),
      };
    }
    const scale = held
      ? makeSignedScale('light', largest(shown.weights))
      : makeScale('light', largest(whole.weights), kind);
    return toSvg({ head: shown, queries: whole.queries, keys: whole.keys, scale, title, colours: palette });
  },
  code: (whole, { batch, head, title, options }) => toProgram(whole, options, { batch, head, title }),
};

/**
 * @param {(options: { threads: number }) => Promise<object>} load
 * @param {() => Promise<Uint8Array>} learnedModel
 */
export function answer(load, learnedModel) {
  const core = load({ threads: 1 });
  core.catch(() => {});
  let threaded = null;
  const coreFor = (weights) => {
    if (weights < MANY || !globalThis.crossOriginIsolated) return core;
    threaded ??= load({ threads: spareThreads() });
    return threaded;
  };
  const [now, held] = [createSolver(coreFor, learnedModel), createSolver(coreFor, learnedModel)];
  /** What was sent last, part by part. */
  const sent = {};
  /** A visitor's tensors: the newest, and those that what is held was made from. */
  const files = new Map();
  let cancelled = false;
  /** When every head was last looked at. */
  let allAt = 0;

  /** Lets messages in, and says how far it is. */
  const turnFor = (id) => async (done, of) => {
    postMessage({ id, progress: { done, of } });
    await new Promise((resolve) => setTimeout(resolve));
    if (cancelled) throw new Cancelled();
  };
  const givenFor = (state) => (EXAMPLES[state.example].file ? files.get(state.file) : undefined);
  const solveBoth = async ({ state, before }) => [
    await now.solve(state, givenFor(state)),
    before ? await held.solve({ ...before, head: state.head }, givenFor(before)) : null,
  ];

  const verbs = {
    async look({ id, state, before, look, hurry }) {
      const [solved, other] = await solveBoth({ state, before });
      if (!solved) return { empty: true };
      const changed = {};
      const parts = partsOf({ state, look, now: solved, held: other, turn: turnFor(id) });
      const keys = {};
      const stale = Object.keys(parts).filter((name) => sent[name] !== parts[name][0]);
      const hurried = hurry && sent.heads && !stale.includes('problem') && performance.now() - allAt < EVERY;
      const late = hurried ? stale.filter((name) => OF_ALL_HEADS.includes(name)) : [];
      for (const name of stale) {
        if (late.includes(name)) continue;
        const [key, make] = parts[name];
        changed[name] = await make();
        keys[name] = key;
        if (name === 'heads') allAt = performance.now();
      }
      // Only what arrives counts as sent: an answer may be cancelled half-way.
      Object.assign(sent, keys);
      for (const name of Object.keys(sent)) if (!parts[name]) delete sent[name];
      return { changed, late: late.length > 0 };
    },
    async make({ state, before, what, more }) {
      const [solved, other] = await solveBoth({ state, before });
      const options = attentionOptions(state, EXAMPLES[state.example].problem(state, givenFor(state)));
      return { made: FILES[what](solved.whole(), { ...more, batch: solved.batch, held: other?.whole(), options }) };
    },
    async take({ sources, before }) {
      const given = readTensors(sources);
      const id = 1 + Math.max(0, ...files.keys());
      for (const old of files.keys()) if (old !== before?.file) files.delete(old);
      files.set(id, { ...given, id });
      return {
        given: {
          id,
          heads: given.query.shape.length === 4 ? given.query.shape[1] : null,
          width: given.query.shape.at(-1),
        },
      };
    },
  };

  globalThis.onmessage = async ({ data: question }) => {
    if (question.verb === 'cancel') {
      cancelled = true;
      return;
    }
    cancelled = false;
    try {
      await core;
      const answered = await verbs[question.verb](question);
      postMessage({ id: question.id, ...answered }, buffersOf(answered.changed));
    } catch (error) {
      if (error instanceof Cancelled) postMessage({ id: question.id, cancelled: true });
      else if (error instanceof TensorProblem)
        postMessage({ id: question.id, problem: { code: error.code, values: error.values } });
      else postMessage({ id: question.id, error: error.message });
    }
  };
}
