// Compares the state with the run that the page shows. If a run is awaited or has failed, the page still shows the
// previous run, and marks it as old.

import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Computing } from '../model/protocol/protocol.ts';
import type { State } from '../model/state.ts';
import type { Run } from '../model/types.ts';
import { readOnly } from './readOnly.ts';
/** A state, and a text that identifies what is shown of it. */
export type Asked = { key: string; state: State };

/** Milliseconds after which the page says that it waits. Most answers arrive earlier, and nothing flashes. */
export const PATIENCE = 300;

export function createWaiting({ run, state }: { run: ReadonlySignal<Run | null>; state: ReadonlySignal<State> }) {
  const awaited = signal(null as Asked | null);
  const computing = signal(null as Computing | null);
  const late = signal(false);
  const failed = signal(null as string | null);
  const last = signal(null as Asked | null);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const isOld = computed(() => run.value !== null && (awaited.value !== null || failed.value !== null));
  function end() {
    clearTimeout(timer);
    timer = undefined;
    [awaited.value, computing.value, late.value] = [null, null, false];
  }

  return {
    actions: {
      /** True if the shown run is not that of the state. */
      isOld,
      isWaiting: computed(() => awaited.value !== null),
      isLate: readOnly(late),
      /** How far the awaited run is; null if it is not known. */
      computing: readOnly(computing),
      /** Why the run of the state failed, while the previous run is shown. */
      failedRun: computed(() => (run.value === null ? null : failed.value)),
      /** The state whose run is shown, once the page says that it is old; before, the current state. */
      shownState: computed(
        () => (isOld.value && (late.value || failed.value !== null) && last.value?.state) || state.value,
      ),
    },
    begin(asked: Asked) {
      batch(() => {
        failed.value = null;
        computing.value = null;
        if (run.peek() !== null && asked.key === last.peek()?.key) return end();
        awaited.value = asked;
      });
      timer ??= setTimeout(() => {
        late.value = awaited.peek() !== null;
      }, PATIENCE);
    },
    progress(how: Computing) {
      computing.value = how;
    },
    /** The awaited run is shown now. */
    arrive() {
      last.value = awaited.peek() ?? last.peek();
      failed.value = null;
      end();
    },
    fail(why: string) {
      failed.value = why;
      end();
    },
    end,
    /** Waits for nothing more, because another model was chosen. */
    leave() {
      failed.value = null;
      end();
    },
    /** Forgets the state of the shown run, because training shows its own runs. */
    forget() {
      last.value = null;
      failed.value = null;
      end();
    },
    lastState: () => (run.peek() === null ? null : (last.peek()?.state ?? null)),
  };
}
export type Waiting = ReturnType<typeof createWaiting>;
