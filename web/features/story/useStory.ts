// Observes the visitor's actions during the story, and announces the observations to screen readers.

import { useEffect, useRef, useState } from 'preact/hooks';
import { runOf } from '../../model/runInput.ts';
import type { Cell, State } from '../../model/state.ts';
import { STEPS } from '../../model/storySteps.ts';
import { useSession } from '../../store/context.ts';
import { corrections, observe, trained } from './observations.ts';
import type { Filled } from './observationTexts.ts';
import { plainText } from './richText.tsx';

/** Milliseconds that the pointer must rest on a cell. A cell that the pointer only passes is not observed. */
const REST = 350;
/** Milliseconds without a change before an observation is announced. */
const SPEAK = 700;

/** Observes the visitor's actions when the answer to them is complete. */
export function useWatch() {
  const session = useSession();
  const state = session.state.value;
  const { step } = state;
  const busy = session.busy.value || session.writing.value;
  const run = session.run.value;
  const real = session.tokenProbabilities.value;
  const roles = session.roles.value;
  const roleWeights = session.roleWeights.value;
  const pointed = session.hover.value !== null || state.cell !== null;
  const cell = useRested(pointed ? session.cell.value : null, state);
  const { held } = session.storyLog.value;
  const fits = real && JSON.stringify(runOf(real.state)) === JSON.stringify(runOf(state));
  useEffect(() => {
    if (busy || !run?.T || state.model !== 'whale') return;
    const note = () => {
      const log = session.storyLog.peek();
      if (log.held) return;
      const next = observe(log, step, state, { run, cell, roles, roleWeights, real: fits ? real : null });
      if (next !== log) session.setStoryLog(next);
      const patch = corrections(state, next);
      if (patch) session.look(patch);
    };
    if (STEPS[step].name === 'ahead' && !fits) session.requestTokenProbabilities();
    if (!STEPS[step].quiz) return note();
    // Arrow keys pass over cells and heads before they reach the intended one, so the observation waits.
    const timer = setTimeout(note, REST);
    return () => clearTimeout(timer);
  }, [busy, run, cell, roles, real, state, held]);
  useTrained(step);
}

/** Returns the cell if it is locked or the pointer has rested on it. A cell of another step or text does not count. */
function useRested(cell: Cell | null, { cell: locked, step, text }: State) {
  const place = `${step} ${text}`;
  const [rested, setRested] = useState({ cell, place });
  useEffect(() => {
    const rest = () => setRested({ cell, place });
    if (locked) return rest();
    const timer = setTimeout(rest, REST);
    return () => clearTimeout(timer);
  }, [cell?.t, cell?.s, locked !== null, place]);
  return rested.place === place ? rested.cell : null;
}

/** Stores the progress of training after the visitor has returned from it. */
function useTrained(step: number) {
  const session = useSession();
  useEffect(() => {
    const log = session.storyLog.peek();
    if (STEPS[step].name !== 'train' || !log.train) return;
    const steps = session.training.progress.peek()?.steps ?? 0;
    const right = session.training.curves.peek().right.at(-1)?.[1];
    session.setStoryLog(trained(log, { steps, right }));
  }, [step]);
}

/** Announces each observation once. */
export function useSpeech(step: number, seen: Filled[]) {
  const session = useSession();
  const said = useRef('');
  const text = seen.map(plainText).join(' ');
  useEffect(() => {
    if (text === '' || said.current === text) return;
    const timer = setTimeout(() => {
      said.current = text;
      session.announce(text);
    }, SPEAK);
    return () => clearTimeout(timer);
  }, [step, text]);
}
