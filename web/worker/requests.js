// Dispatches the requests of the page: see store/protocol.d.ts for the messages and verbs/table.js for the verbs. An
// answer consists of parts, { id, part, … }, and ends with { id, done: true } or { id, error }. If several requests
// with the same verb wait, only the newest is answered.

import { TRAINED } from '../store/runInput.js';
import { OpenSources } from './openSources.js';
import { RoleCache } from './run/roleMeasurement.js';
import { RunCache } from './run/runCache.js';
import * as table from './verbs/table.js';

/** @import { AnswerMessage, CancelRequest, ProblemValue, Request, Verb } from '../store/protocol.js' */
/** @import { LoadOptions } from '../../src/js/load/load.js' */
/** @import { FetchFile, Hl } from './sources/types.js' */
/** @import { ModelStore } from './trainer/trainedModelDatabase.js' */
/** @import { Training } from './trainer/training.js' */
/** @import { Handler, Handlers, Reply, WorkerContext } from './types.js' */
/** @typedef {(message: AnswerMessage, transfer?: ArrayBuffer[]) => void} Post */

/** @type {Handlers} */
const HANDLERS = table;

/**
 * @param {object} worker
 * @param {(options?: LoadOptions) => Promise<Hl>} worker.load
 * @param {FetchFile} worker.fetchBeside reads a file from the folder of the script
 * @param {Post} worker.post
 * @param {ModelStore} [worker.modelStore] stores models that are trained in the page; default: the browser's database
 */
export function createAnswerer({ load, fetchBeside, post, modelStore }) {
  const context = createContext(load, fetchBeside, modelStore);
  /** The newest request of each verb. @type {Map<Verb, number>} */
  const newest = new Map();

  /** @param {Request} request @returns {Reply} */
  function replyTo({ id, verb }) {
    const isCancelled = () => newest.get(verb) !== id;
    return {
      send: (part, fields, transfer = []) =>
        post(/** @type {AnswerMessage} */ (/** @type {unknown} */ ({ id, verb, part, ...fields })), transfer),
      isCancelled,
      async checkCancelled() {
        await new Promise((resolve) => setTimeout(resolve));
        return isCancelled();
      },
    };
  }

  return async (/** @type {Request | CancelRequest} */ request) => {
    const { id, verb } = request;
    if (verb === 'cancel') return newest.set(request.of, id);
    newest.set(verb, id);
    const reply = replyTo(request);
    try {
      const handler = /** @type {Handler<Verb>} */ (HANDLERS[verb]);
      // If several requests with one verb wait, only the newest one starts.
      if (!handler.answersEvery && (await reply.checkCancelled())) return post({ id, verb, done: true, dropped: true });
      await handler.answer(request, reply, context);
      post({ id, verb, done: true, dropped: reply.isCancelled() });
    } catch (error) {
      if (reply.isCancelled()) return post({ id, verb, done: true, dropped: true });
      const { message, code, values } = /** @type {Error & { code?: string, values?: ProblemValue[] }} */ (error);
      post({ id, verb, error: message, code, values });
    }
  };
}

/**
 * @param {() => Promise<Hl>} load
 * @param {FetchFile} fetchFile
 * @param {ModelStore} [modelStore]
 * @returns {WorkerContext}
 */
function createContext(load, fetchFile, modelStore) {
  /** @type {Promise<Hl> | undefined} */
  let loading;
  const core = () => (loading ??= load());
  const sources = new OpenSources(core, fetchFile);
  /** Loaded by the first request, because most visitors do not train. @type {Promise<Training> | undefined} */
  let loadingTraining;
  const training = () => (loadingTraining ??= loadTraining(core, sources, fetchFile, modelStore));
  return {
    core,
    sources,
    fetchFile,
    runs: new RunCache(),
    roles: new RoleCache(),
    training,
    async sourceOf(state, { send }) {
      if (state.model === TRAINED) return (await training()).source(state);
      const source = await sources.get(state.model, (read, total) => send('progress', { read, total }));
      const towers = 'towers' in source ? source.towers : undefined;
      return towers && state.part === 'vision' ? towers.vision : source;
    },
  };
}

/**
 * @param {() => Promise<Hl>} core
 * @param {OpenSources} sources
 * @param {FetchFile} fetchFile
 * @param {ModelStore} [modelStore]
 */
async function loadTraining(core, sources, fetchFile, modelStore) {
  const [{ Training }, hl] = await Promise.all([import('./trainer/training.js'), core()]);
  const demo = {
    open: () => sources.get('whale', () => {}),
    readTokenizer: () => fetchFile('whale.tokenizer.json', () => {}),
  };
  return new Training(hl, demo, modelStore);
}
