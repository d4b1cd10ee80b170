// The map of all heads on the page: it controls the scan in the worker, and receives the map, the page of the chosen
// head and the cost of switching that head off. See features/atlas.

import { type ReadonlySignal, signal } from '@preact/signals';
import type {
  AtlasCost,
  AtlasHead,
  AtlasMap,
  AtlasParts,
  AtlasRole,
  Corpus,
} from '../../model/protocol/atlasProtocol.ts';
import type { About, PartListeners } from '../../model/protocol/protocol.ts';
import type { State } from '../../model/state.ts';
import { download } from '../../ui/download.ts';
import { readOnly } from '../readOnly.ts';
import type { Requests } from '../requests.ts';

/** Tokens of a passage, unless the visitor chooses another length. */
export const LENGTH = 128;

export function createAtlas({
  requests,
  state,
  about,
}: {
  requests: Requests;
  state: ReadonlySignal<State>;
  about: ReadonlySignal<About | null>;
}) {
  const map = signal(null as AtlasMap | null);
  const head = signal(null as AtlasHead | null);
  const cost = signal(null as AtlasCost | null);
  const estimate = signal(null as AtlasParts['atlasEstimate'] | null);
  /** The costs that have been measured, by 'layer.head'. */
  const measured = signal({} as Record<string, number>);
  const table = signal(false);
  /** The model of the last request for a stored scan. */
  let asked = '';
  /** Identifies the last request for the page of a head. */
  let askedHead = '';
  let measuring = '';

  /** Forgets the map, because another model is chosen. */
  function clear() {
    map.value = head.value = cost.value = estimate.value = null;
    measured.value = {};
    asked = askedHead = measuring = '';
  }
  /** Asks for the stored scan or an estimate. */
  function askStored() {
    const { model } = state.peek();
    if (asked === model || map.peek()) return;
    asked = model;
    requests.send({ verb: 'storedScan', state: state.peek(), estimate: true });
  }

  const parts: Pick<PartListeners, 'atlasMap' | 'atlasHead' | 'atlasCost' | 'atlasEstimate' | 'headvisFile'> = {
    atlasMap({ map: now }) {
      if (map.peek()?.key !== now.key) {
        head.value = cost.value = null;
        measured.value = {};
        askedHead = measuring = '';
      }
      map.value = now;
    },
    atlasHead(page) {
      if (page.key === map.peek()?.key) head.value = page;
    },
    atlasCost(now) {
      if (now.key !== map.peek()?.key) return;
      cost.value = now;
      if (now.measured === now.total) measured.value = { ...measured.peek(), [`${now.layer}.${now.head}`]: now.mean };
    },
    headvisFile: ({ bytes }) => download('headvis.zip', 'application/zip', bytes),
    atlasEstimate(now) {
      estimate.value = now;
    },
  };

  return {
    parts,
    clear,
    /** The map; null until a scan has begun or a stored scan has been found. */
    map: readOnly(map),
    head: readOnly(head),
    cost: readOnly(cost),
    /** How long a scan takes, for a model without a stored scan. */
    estimate: readOnly(estimate),
    measured: readOnly(measured),
    table: readOnly(table),
    setTable(on: boolean) {
      table.value = on;
    },
    /** Asks for the stored scan or an estimate when the view is opened. */
    enter: askStored,
    scan(
      corpus: Corpus,
      {
        length = LENGTH,
        again = false,
      }: {
        /** maximum tokens of a passage */
        length?: number;
        again?: boolean;
      } = {},
    ) {
      map.value = head.value = cost.value = null;
      askedHead = measuring = '';
      requests.send({ verb: 'scan', state: state.peek(), corpus, length, again });
    },
    control: (action: 'pause' | 'continue' | 'stop') => requests.send({ verb: 'controlScan', action }),
    /** Requests the page of a head. now: the number of passages that the scan has read. */
    readHead(layer: number, number: number, now = 0) {
      const key = map.peek()?.key;
      const wanted = `${key} ${layer}.${number} ${now}`;
      if (!key || wanted === askedHead) return;
      askedHead = wanted;
      requests.send({ verb: 'scannedHead', state: state.peek(), key, layer, head: number });
    },
    measure(layer: number, number: number, role: AtlasRole | null) {
      const key = map.peek()?.key;
      const wanted = `${key} ${layer}.${number}`;
      if (!key || wanted === measuring) return;
      measuring = wanted;
      cost.value = null;
      requests.send({ verb: 'headCost', state: state.peek(), key, layer, head: number, role });
    },
    saveHeadvis() {
      const key = map.peek()?.key;
      const title = about.peek()?.title ?? about.peek()?.name ?? '';
      if (key) requests.send({ verb: 'saveHeadvis', state: state.peek(), key, title });
    },
    /** Cancels the measurement of a cost that is not complete. */
    stopMeasuring() {
      const now = cost.peek();
      if (now && now.measured === now.total) return;
      measuring = '';
      cost.value = null;
      requests.cancel('headCost');
    },
  };
}
export type AtlasStore = ReturnType<typeof createAtlas>;
