// Requests about a trace, which measures how much of the answer is restored if the value at one place of the model is
// copied from another run.

import type { Run, State } from '../../model/protocol/protocol.ts';
import type { TraceControl } from '../../model/protocol/traceProtocol.ts';
import { ALL, OWN } from '../../model/trace/settings.ts';
import type { Pair } from '../../model/trace/tasks.ts';
import { transformerOf } from '../sources/sources.ts';
import type { Handler } from '../types.ts';

/** For a model with fewer bytes, pairs that do not change its answer are left out, unless no pair would remain. */
const SMALL = 2e7;

/** The place that is measured next, and whether the measurement is paused. */
const control: TraceControl = {};

export const traceTasks: Handler<'traceTasks'> = {
  async answer({ state }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const [{ fittingTasks, MAX_PAIRS }, { hasEffect, wordsOf }] = await Promise.all([
      import('../../model/trace/tasks.ts'),
      import('../run/tracedPair.ts'),
    ]);
    const tasks = fittingTasks(wordsOf(source));
    const effective = (pairs: Pair[]) =>
      source.about.bytes < SMALL ? pairs.filter((pair) => hasEffect(hl, source, pair)) : [];
    reply.send('traceTasks', {
      tasks: tasks.map(({ name, pairs }) => {
        const good = effective(pairs);
        return { name, pairs: (good.length > 0 ? good : pairs).slice(0, MAX_PAIRS) };
      }),
    });
  },
};

export const traceControl: Handler<'traceControl'> = {
  answersEvery: true,
  answer({ place, paused }) {
    if (place !== undefined) control.place = place;
    if (paused !== undefined) control.paused = paused;
  },
};

const withPair = (state: State, { upper, lower, answers }: Pair): State => ({
  ...state,
  text: lower,
  pinned: { ...(state.pinned as Run), text: upper },
  trace: { ...state.trace, answers },
});

export const trace: Handler<'trace'> = {
  async answer({ state, pairs }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const [{ traceRuns }, { measureGrid }] = await Promise.all([
      import('../run/tracedPair.ts'),
      import('../run/traceGrid.ts'),
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
