// Everything that the page shows of a model, in one signal, so that the model's name, picture, numbers and prediction
// change together. When another model is chosen, nothing of the previous model stays on the page, and late answers
// about the previous model are dropped.

import { batch, computed, signal } from '@preact/signals';
import type {
  Ablation,
  About,
  ChatPart,
  Comparison,
  NamedRoles,
  Parts,
  PinnedHead,
  PooledHead,
  Ranking,
  Roles,
  RoleWeights,
  Rounding,
  ShownRun,
  Similarity,
  TokenProbabilities,
  Turned,
} from '../model/protocol/protocol.ts';
import type { TraceTasks } from '../model/protocol/traceProtocol.ts';
import type { Trace } from '../model/trace/places.ts';
import type { Run } from '../model/types.ts';
import type { History } from './undo.ts';

export type Shown = {
  source: string;
  /** null until the model is known */
  about: About | null;
  /** the last run; null until the first answer has arrived */
  run: Run | null;
  comparison: Comparison | null;
  chat: Omit<ChatPart, 'text'> | null;
  /** of the two sentences */
  similarity: Similarity | null;
  /** of sentences for a picture */
  ranking: Ranking | null;
  /** comparison with the float32 weights; null before it is requested */
  rounding: Rounding | null;
  turned: Turned | null;
  pinnedHead: PinnedHead | null;
  roles: Roles | null;
  roleWeights: RoleWeights | null;
  tokenProbabilities: TokenProbabilities | null;
  traceTasks: TraceTasks | null;
  trace: Trace | null;
  composition: Parts['composition'] | null;
  ablation: Ablation | null;
  /** by 'layer.head' */
  pooled: Record<string, Omit<PooledHead, 'layer' | 'head'>>;
};

const nothingOf = (source: string, about: About | null): Shown => ({
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

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

export function createAnswers(source: string) {
  const shown = signal(nothingOf(source, null));
  /** The answers about the last model that has been run, and the history when another model was chosen. */
  let previous: { shown: Shown; history: History } | null = null;
  let announced: About | null = null;
  const set = (fields: Partial<Shown>) => {
    shown.value = { ...shown.peek(), ...fields };
  };

  function setRoles({ roles, weights = null }: NamedRoles | { roles: null; weights: null }) {
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
    /** Returns true if the answer to a request about this model can be shown. */
    isAbout: (model: string | undefined): boolean => model === undefined || model === shown.peek().source,
    /**
     * Replaces what is shown of the previous model, as another one (`about`: null if unknown) is chosen. `history`:
     * restored with the previous model if the new one cannot be shown.
     */
    change(name: string, about: About | null, history: History) {
      if (shown.peek().run) previous = { shown: shown.peek(), history };
      announced = null;
      shown.value = nothingOf(name, about);
    },
    hasPrevious: () => previous !== null,
    /** Shows the previous model again; returns null if there is none or the new model has a run. */
    restore(): History | null {
      if (shown.peek().run || !previous) return null;
      const { shown: before, history } = previous;
      previous = null;
      shown.value = before;
      return history;
    },
    /** Stores the model's description, which is shown together with the next run. */
    announce(about: About) {
      announced = about;
      if (!shown.peek().run && !isSame(about, shown.peek().about)) set({ about });
    },
    /** `late`: true if it was awaited so long that the parts that follow it may take long too. */
    setRun(run: ShownRun, late = false) {
      batch(() => {
        const { about: before } = shown.peek();
        const about = (announced && !isSame(announced, before) ? announced : before) as About;
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
    addPooled: (layer: number, head: number, picture: Omit<PooledHead, 'layer' | 'head'>) =>
      set({ pooled: { ...shown.peek().pooled, [`${layer}.${head}`]: picture } }),
  };
}
export type Answers = ReturnType<typeof createAnswers>;
