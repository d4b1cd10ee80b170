// Types of the handlers of requests: their arguments, and the functions with which they answer.

import type { PartName, Parts, RequestOf, State, Verb } from '../model/protocol/protocol.ts';
import type { OpenSources } from './openSources.ts';
import type { RoleCache } from './run/roleMeasurement.ts';
import type { RunCache } from './run/runCache.ts';
import type { FetchFile, Hl, Source } from './sources/types.ts';
import type { Training } from './trainer/training.ts';

export type Send = <P extends PartName>(part: P, fields: Parts[P], transfer?: ArrayBuffer[]) => void;

export interface Reply {
  send: Send;
  /** Returns true once a newer request with the same verb has arrived or this request was cancelled. */
  isCancelled(): boolean;
  /** Lets the worker read newer messages, and then returns isCancelled(). */
  checkCancelled(): Promise<boolean>;
}

export interface WorkerContext {
  core(): Promise<Hl>;
  sources: OpenSources;
  fetchFile: FetchFile;
  runs: RunCache;
  roles: RoleCache;
  training(): Promise<Training>;
  /** Returns the source that a state names, and opens it if necessary. For `trained`, returns the model in training. */
  sourceOf(state: Pick<State, 'model'> & Partial<State>, reply: Reply): Promise<Source>;
}

export interface Handler<V extends Verb> {
  /** True if each request is answered, even if a newer request with the same verb follows at once. Default false. */
  answersEvery?: boolean;
  answer(request: RequestOf<V>, reply: Reply, worker: WorkerContext): unknown;
}

export type Handlers = { [V in Verb]: Handler<V> };
