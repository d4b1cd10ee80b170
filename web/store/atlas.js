// The map of all heads on the page: it controls the scan in the worker, and receives the map, the page of the chosen
// head and the cost of switching that head off. See features/atlas.

import { signal } from '@preact/signals';
import { download } from '../ui/download.js';
import { readOnly } from './readOnly.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { AtlasCost, AtlasHead, AtlasMap, AtlasParts, AtlasRole, Corpus } from './atlasProtocol.js' */
/** @import { About, PartListeners } from './protocol.js' */
/** @import { State } from './state.js' */

/** Tokens of a passage, unless the visitor chooses another length. */
export const LENGTH = 128;

/**
 * @param {object} store
 * @param {import('./requests.js').Requests} store.requests
 * @param {ReadonlySignal<State>} store.state
 * @param {ReadonlySignal<About | null>} store.about
 */
export function createAtlas({ requests, state, about }) {
  const map = signal(/** @type {AtlasMap | null} */ (null));
  const head = signal(/** @type {AtlasHead | null} */ (null));
  const cost = signal(/** @type {AtlasCost | null} */ (null));
  const estimate = signal(/** @type {AtlasParts['atlasEstimate'] | null} */ (null));
  /** The costs that have been measured, by 'layer.head'. */
  const measured = signal(/** @type {Record<string, number>} */ ({}));
  /** True while the map is shown as a table. */
  const table = signal(false);
  /** The model of the last request for a stored scan. */
  let asked = '';
  /** Identifies the last request for the page of a head. */
  let askedHead = '';
  /** Identifies the head whose cost was requested last. */
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

  /** @type {Pick<PartListeners, 'atlasMap' | 'atlasHead' | 'atlasCost' | 'atlasEstimate' | 'headvisFile'>} */
  const parts = {
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
    /** @param {boolean} on */
    setTable(on) {
      table.value = on;
    },
    /** Asks for the stored scan or an estimate when the view is opened. */
    enter: askStored,
    /**
     * @param {Corpus} corpus
     * @param {object} [options]
     * @param {number} [options.length] maximum tokens of a passage
     * @param {boolean} [options.again] scans even if the result is stored
     */
    scan(corpus, { length = LENGTH, again = false } = {}) {
      map.value = head.value = cost.value = null;
      askedHead = measuring = '';
      requests.send({ verb: 'scan', state: state.peek(), corpus, length, again });
    },
    /** @param {'pause' | 'continue' | 'stop'} action */
    control: (action) => requests.send({ verb: 'controlScan', action }),
    /** Requests the page of a head. now: the number of passages that the scan has read. */
    readHead(/** @type {number} */ layer, /** @type {number} */ number, now = 0) {
      const key = map.peek()?.key;
      const wanted = `${key} ${layer}.${number} ${now}`;
      if (!key || wanted === askedHead) return;
      askedHead = wanted;
      requests.send({ verb: 'scannedHead', state: state.peek(), key, layer, head: number });
    },
    /** Measures the cost of switching a head off. @param {AtlasRole | null} role */
    measure(/** @type {number} */ layer, /** @type {number} */ number, role) {
      const key = map.peek()?.key;
      const wanted = `${key} ${layer}.${number}`;
      if (!key || wanted === measuring) return;
      measuring = wanted;
      cost.value = null;
      requests.send({ verb: 'headCost', state: state.peek(), key, layer, head: number, role });
    },
    /** Saves the map as a folder of HeadVis. */
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
/** @typedef {ReturnType<typeof createAtlas>} AtlasStore */
