// Requests about a trace, which measures how much of the answer is restored if the value at one place of the model is
// copied from another run.

import { ALL, OWN } from '../../features/trace/settings.js';
import { transformerOf } from '../sources/sources.js';

/** @import { Pair } from '../../features/trace/tasks.js' */
/** @import { Run, State } from '../../store/protocol.js' */
/** @import { TraceControl } from '../../store/traceProtocol.js' */
/** @import { Handler } from '../types.js' */

/** For a model with fewer bytes, pairs that do not change its answer are left out, unless no pair would remain. */
const SMALL = 2e7;

/** The place that is measured next, and whether the measurement is paused. @type {TraceControl} */
const control = {};

/** @type {Handler<'traceTasks'>} */
export const traceTasks = {
  async answer({ state }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const [{ fittingTasks, MAX_PAIRS }, { hasEffect, wordsOf }] = await Promise.all([
      import('../../features/trace/tasks.js'),
      import('../run/tracedPair.js'),
    ]);
    const tasks = fittingTasks(wordsOf(source));
    const effective = (/** @type {Pair[]} */ pairs) =>
      source.about.bytes < SMALL ? pairs.filter((pair) => hasEffect(hl, source, pair)) : [];
    reply.send('traceTasks', {
      tasks: tasks.map(({ name, pairs }) => {
        const good = effective(pairs);
        return { name, pairs: (good.length > 0 ? good : pairs).slice(0, MAX_PAIRS) };
      }),
    });
  },
};

/** @type {Handler<'traceControl'>} */
export const traceControl = {
  answersEvery: true,
  answer({ place, paused }) {
    if (place !== undefined) control.place = place;
    if (paused !== undefined) control.paused = paused;
  },
};

/** @param {State} state @param {Pair} pair @returns {State} */
const withPair = (state, { upper, lower, answers }) => ({
  ...state,
  text: lower,
  pinned: { .../** @type {Run} */ (state.pinned), text: upper },
  trace: { ...state.trace, answers },
});

/** @type {Handler<'trace'>} */
export const trace = {
  async answer({ state, pairs }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const [{ traceRuns }, { measureGrid }] = await Promise.all([
      import('../run/tracedPair.js'),
      import('../run/traceGrid.js'),
    ]);
    Object.assign(control, { place: null, paused: false });
    const { by, pair, task } = state.trace;
    const all = task !== OWN && pair === ALL && pairs.length > 0;
    const experiments = (all ? pairs.map((one) => withPair(state, one)) : [state]).map((one) =>
      traceRuns(hl, source, one, (run, T) =>
        worker.runs.edits(hl, source, { ...run, patch: {} }, { layer: 0, pinned: null, T }),
      ),
    );
    const good = experiments.filter(({ runs }) => runs.problem === null);
    if (good.length === 0) return reply.send('traceRuns', experiments[0].runs);
    await measureGrid(source, good, { by, control, reply });
  },
};
