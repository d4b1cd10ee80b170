// Everything that the page shows of a model, in one signal, so that the model's name, picture, numbers and prediction
// change together. When another model is chosen, nothing of the previous model stays on the page, and late answers
// about the previous model are dropped.

import { batch, computed, signal } from '@preact/signals';

/** @import { About, Ablation, ChatPart, Comparison, Parts, PinnedHead, PooledHead } from './protocol.js' */
/** @import { NamedRoles, Ranking, RoleWeights, Roles, Rounding } from './protocol.js' */
/** @import { ShownRun, Similarity, TokenProbabilities, Turned } from './protocol.js' */
/** @import { Run } from './types.js' */
/** @import { History } from './undo.js' */

/**
 * @typedef {object} Shown
 * @property {string} source the name of state.model
 * @property {About | null} about null until the model is known
 * @property {Run | null} run the last run; null until the first answer has arrived
 * @property {Comparison | null} comparison
 * @property {Omit<ChatPart, 'text'> | null} chat the messages of the text
 * @property {Similarity | null} similarity of the two sentences
 * @property {Ranking | null} ranking of sentences for a picture
 * @property {Rounding | null} rounding comparison with the float32 weights; null before it is requested
 * @property {Turned | null} turned
 * @property {PinnedHead | null} pinnedHead
 * @property {Roles | null} roles
 * @property {RoleWeights | null} roleWeights
 * @property {TokenProbabilities | null} tokenProbabilities
 * @property {import('./traceProtocol.js').TraceTasks | null} traceTasks
 * @property {import('../features/trace/places.js').Trace | null} trace
 * @property {Parts['composition'] | null} composition of heads, which the page draws as lines between them
 * @property {Ablation | null} ablation
 * @property {Record<string, Omit<PooledHead, 'layer' | 'head'>>} pooled by 'layer.head'
 */

/** @param {string} source @param {About | null} about @returns {Shown} */
const nothingOf = (source, about) => ({
  source,
  about,
  run: null,
  comparison: null,
  chat: null,
  similarity: null,
  ranking: null,
  rounding: null,
  turned: null,
  pinnedHead: null,
  roles: null,
  roleWeights: null,
  tokenProbabilities: null,
  traceTasks: null,
  trace: null,
  composition: null,
  ablation: null,
  pooled: {},
});

const isSame = (/** @type {unknown} */ a, /** @type {unknown} */ b) => JSON.stringify(a) === JSON.stringify(b);

/** @param {string} source the name of state.model */
export function createAnswers(source) {
  const shown = signal(nothingOf(source, null));
  /**
   * The answers about the last model that has been run, and the history when another model was chosen.
   * @type {{ shown: Shown, history: History } | null}
   */
  let previous = null;
  /** The new model's description, until its first run arrives. @type {About | null} */
  let announced = null;
  const set = (/** @type {Partial<Shown>} */ fields) => {
    shown.value = { ...shown.peek(), ...fields };
  };

  /** @param {NamedRoles | { roles: null, weights: null }} named */
  function setRoles({ roles, weights = null }) {
    const now = shown.peek();
    if (!isSame([roles, weights], [now.roles, now.roleWeights])) set({ roles, roleWeights: weights });
  }

  return {
    fields: {
      about: computed(() => shown.value.about),
      run: computed(() => shown.value.run),
      comparison: computed(() => shown.value.comparison),
      chat: computed(() => shown.value.chat),
      similarity: computed(() => shown.value.similarity),
      ranking: computed(() => shown.value.ranking),
      rounding: computed(() => shown.value.rounding),
      turned: computed(() => shown.value.turned),
      pinnedHead: computed(() => shown.value.pinnedHead),
      roles: computed(() => shown.value.roles),
      roleWeights: computed(() => shown.value.roleWeights),
      tokenProbabilities: computed(() => shown.value.tokenProbabilities),
      traceTasks: computed(() => shown.value.traceTasks),
      trace: computed(() => shown.value.trace),
      composition: computed(() => shown.value.composition),
      ablation: computed(() => shown.value.ablation),
      pooled: computed(() => shown.value.pooled),
    },
    set,
    /** @param {string | undefined} model of a request @returns {boolean} true if the request's answer can be shown */
    isAbout: (model) => model === undefined || model === shown.peek().source,
    /**
     * Replaces everything that the page shows of the previous model, because another model is chosen.
     * @param {string} name
     * @param {About | null} about null if the model is not known yet
     * @param {History} history restored together with the previous model if the new model cannot be shown
     */
    change(name, about, history) {
      if (shown.peek().run) previous = { shown: shown.peek(), history };
      announced = null;
      shown.value = nothingOf(name, about);
    },
    hasPrevious: () => previous !== null,
    /** Shows the previous model again. @returns {History | null} null if there is none or the new model has a run */
    restore() {
      if (shown.peek().run || !previous) return null;
      const { shown: before, history } = previous;
      previous = null;
      shown.value = before;
      return history;
    },
    /** Stores the model's description, which is shown together with the next run. @param {About} about */
    announce(about) {
      announced = about;
      if (!shown.peek().run && !isSame(about, shown.peek().about)) set({ about });
    },
    /**
     * @param {ShownRun} run
     * @param {boolean} [late] true if it was awaited so long that the parts that follow it may take long too
     */
    setRun(run, late = false) {
      batch(() => {
        const { about: before } = shown.peek();
        const about = /** @type {About} */ (announced && !isSame(announced, before) ? announced : before);
        previous = null;
        const { roles, pictures, ...own } = run;
        // The worker does not send the tokens of the keys if they are also the tokens of the queries.
        const whole = { ...own, S: run.S ?? run.T, keys: run.keys ?? run.pieces, about };
        const small = (pictures ?? []).map(({ layer, head, ...one }) => [`${layer}.${head}`, one]);
        const kept = run.large && !pictures ? {} : { pooled: Object.fromEntries(small) };
        const following = late ? { similarity: null, ranking: null, pinnedHead: null } : {};
        set({ about, run: whole, comparison: null, turned: null, ...following, ...kept });
        if (roles) setRoles(roles);
      });
    },
    setRoles,
    /** @param {number} layer @param {number} head @param {Omit<PooledHead, 'layer' | 'head'>} picture */
    addPooled: (layer, head, picture) => set({ pooled: { ...shown.peek().pooled, [`${layer}.${head}`]: picture } }),
  };
}
/** @typedef {ReturnType<typeof createAnswers>} Answers */
