// Dispatches the requests of the page: see store/protocol.ts for the messages and verbs/table.ts for the verbs. An
// answer consists of parts, { id, part, … }, and ends with { id, done: true } or { id, error }. If several requests
// with the same verb wait, only the newest is answered.

import type { LoadOptions } from '../../src/js/load/load.ts';
import type { AnswerMessage, CancelRequest, ProblemValue, Request, Verb } from '../model/protocol/protocol.ts';
import { TRAINED } from '../model/runInput.ts';
import { OpenSources } from './openSources.ts';
import { RoleCache } from './run/roleMeasurement.ts';
import { RunCache } from './run/runCache.ts';
import type { FetchFile, Hl } from './sources/types.ts';
import type { ModelStore } from './trainer/trainedModelDatabase.ts';
import type { Training } from './trainer/training.ts';
import type { Handler, Handlers, Reply, WorkerContext } from './types.ts';
import * as table from './verbs/table.ts';
export type Post = (message: AnswerMessage, transfer?: ArrayBuffer[]) => void;

const HANDLERS: Handlers = table;

export function createAnswerer({
  load,
  fetchBeside,
  post,
  modelStore,
}: {
  load: (options?: LoadOptions) => Promise<Hl>;
  /** reads a file from the folder of the script */
  fetchBeside: FetchFile;
  post: Post;
  /** stores models that are trained in the page; default: the browser's database */
  modelStore?: ModelStore;
}) {
  const context = createContext(load, fetchBeside, modelStore);
  const newest: Map<Verb, number> = new Map();

  function replyTo({ id, verb }: Request): Reply {
    const isCancelled = () => newest.get(verb) !== id;
    return {
      send: (part, fields, transfer = []) => post({ id, verb, part, ...fields } as unknown as AnswerMessage, transfer),
      isCancelled,
      async checkCancelled() {
        await new Promise((resolve) => setTimeout(resolve));
        return isCancelled();
      },
    };
  }

  return async (request: Request | CancelRequest) => {
    const { id, verb } = request;
    if (verb === 'cancel') return newest.set(request.of, id);
    newest.set(verb, id);
    const reply = replyTo(request);
    try {
      const handler = HANDLERS[verb] as Handler<Verb>;
      // If several requests with one verb wait, only the newest one starts.
      if (!handler.answersEvery && (await reply.checkCancelled())) return post({ id, verb, done: true, dropped: true });
      await handler.answer(request, reply, context);
      post({ id, verb, done: true, dropped: reply.isCancelled() });
    } catch (error) {
      if (reply.isCancelled()) return post({ id, verb, done: true, dropped: true });
      const { message, code, values } = error as Error & { code?: string; values?: ProblemValue[] };
      post({ id, verb, error: message, code, values });
    }
  };
}

function createContext(load: () => Promise<Hl>, fetchFile: FetchFile, modelStore?: ModelStore): WorkerContext {
  let loading: Promise<Hl> | undefined;
  const core = () => (loading ??= load());
  const sources = new OpenSources(core, fetchFile);
  /** Loaded by the first request, because most visitors do not train. */
  let loadingTraining: Promise<Training> | undefined;
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

async function loadTraining(
  core: () => Promise<Hl>,
  sources: OpenSources,
  fetchFile: FetchFile,
  modelStore?: ModelStore,
) {
  const [{ Training }, hl] = await Promise.all([import('./trainer/training.ts'), core()]);
  const demo = {
    open: () => sources.get('whale', () => {}),
    readTokenizer: () => fetchFile('whale.tokenizer.json', () => {}),
  };
  return new Training(hl, demo, modelStore);
}
