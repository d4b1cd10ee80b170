// Measures circuits. Keeps the last circuit, so that its edges can be cut and a stopped measurement can continue.

import { measureCuts } from './cutLines.js';
import { CANCELLED, prepare } from './experiment.js';
import { measureCircuit, startProgress } from './measureCircuit.js';

/** @import { State } from '../../store/protocol.js' */
/** @import { TransformerSource } from '../sources/types.js' */
/** @import { Reply, WorkerContext } from '../types.js' */
/** @import { Progress } from './measureCircuit.js' */

export class Circuits {
  #worker;
  /** @type {{ key: string, progress: Progress } & Awaited<ReturnType<typeof prepare>> | null} */
  #last = null;

  /** @param {WorkerContext} worker */
  constructor(worker) {
    this.#worker = worker;
  }

  /**
   * @param {TransformerSource} source
   * @param {State} state
   * @param {string} key
   * @param {Reply} reply
   * @param {boolean} [again] true to send the beginning of a known circuit again
   */
  async #find(source, state, key, reply, again = false) {
    if (this.#last?.key === key) {
      if (again) reply.send('circuit', { begun: this.#last.begun });
      return this.#last;
    }
    const prepared = await prepare(source, state, this.#worker, reply);
    this.#last = { key, ...prepared, progress: startProgress() };
    return this.#last;
  }

  /** @param {TransformerSource} source @param {State} state @param {string} key @param {Reply} reply */
  async measure(source, state, key, reply) {
    try {
      const { experiment, progress } = await this.#find(source, state, key, reply, true);
      if (experiment) await measureCircuit(experiment, progress, reply);
    } catch (error) {
      if (error !== CANCELLED) throw error;
    }
  }

  /**
   * @param {TransformerSource} source
   * @param {State} state
   * @param {string} key
   * @param {string[]} lines
   * @param {Reply} reply
   */
  async cut(source, state, key, lines, reply) {
    try {
      const { experiment } = await this.#find(source, state, key, reply);
      if (experiment) await measureCuts(experiment, state.circuit?.cut ?? [], lines, reply);
    } catch (error) {
      if (error !== CANCELLED) throw error;
    }
  }
}
