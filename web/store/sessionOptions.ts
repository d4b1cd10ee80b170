// The options with which a page starts a session.

import type { ProgramInput } from '../model/protocol/programInput.ts';
import type { About } from '../model/protocol/protocol.ts';
import type { WorkerLike } from '../model/protocol/workerLike.ts';
import type { State } from '../model/state.ts';

export type SessionOptions = {
  /** some fields, or the part of an address after # */
  state?: Partial<State> | string;
  /** default: the language of the browser */
  language?: 'en' | 'zh';
  /** default: the theme of the browser */
  theme?: 'light' | 'dark';
  /**
   * called after every change. substituted: true if the chosen model could not be shown, 'later' if it must be
   * downloaded first
   */
  onState?: (state: State, substituted: boolean | 'later') => void;
  onLanguage?: (language: string, title: string) => void;
  /** called with a choice that may be stored */
  onChoice?: (name: 'language' | 'theme', value: string) => void;
  /** starts the worker, or an object that replaces it */
  start: () => WorkerLike;
  /** the answer to `show` for the initial state: see firstAnswer.ts */
  first?: Promise<string>;
  /** the input of the program, which becomes the model PROGRAM_MODEL */
  programModel?: ProgramInput | null;
  /** called after a model was read; returns the problem if the options do not fit the model */
  refuses?: (about: About) => string | null;
  /** true if the instrument is a part of another page */
  embedded?: boolean;
  /** models of the menu whose files are available */
  models?: readonly string[];
};
