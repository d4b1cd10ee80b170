// Measures circuits. Keeps the last circuit, so that its edges can be cut and a stopped measurement can continue.

import type { State } from '../../model/protocol/protocol.ts';
import type { TransformerSource } from '../sources/types.ts';
import type { Reply, WorkerContext } from '../types.ts';
import { measureCuts } from './cutLines.ts';
import { CANCELLED, prepare } from './experiment.ts';
import { measureCircuit, type Progress, startProgress } from './measureCircuit.ts';

export class Circuits {
  #worker: WorkerContext;
  #last: ({ key: string; progress: Progress } & Awaited<ReturnType<typeof prepare>>) | null = null;

  constructor(worker: WorkerContext) {
    this.#worker = worker;
  }

  /** `again`: true to send the beginning of a known circuit again. */
  async #find(source: TransformerSource, state: State, key: string, reply: Reply, again = false) {
    if (this.#last?.key === key) {
      if (again) reply.send('circuit', { begun: this.#last.begun });
      return this.#last;
    }
    const prepared = await prepare(source, state, this.#worker, reply);
    this.#last = { key, ...prepared, progress: startProgress() };
    return this.#last;
  }

  async measure(source: TransformerSource, state: State, key: string, reply: Reply) {
    try {
      const { experiment, progress } = await this.#find(source, state, key, reply, true);
      if (experiment) await measureCircuit(experiment, progress, reply);
    } catch (error) {
      if (error !== CANCELLED) throw error;
    }
  }

  async cut(source: TransformerSource, state: State, key: string, lines: string[], reply: Reply) {
    try {
      const { experiment } = await this.#find(source, state, key, reply);
      if (experiment) await measureCuts(experiment, state.circuit?.cut ?? [], lines, reply);
    } catch (error) {
      if (error !== CANCELLED) throw error;
    }
  }
}
