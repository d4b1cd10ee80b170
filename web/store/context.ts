// Gives components access to the session. To extend the page, edit these files:
//
//   a view of the large picture            features/views.ts: name, component
//   a panel of the reading column          features/panels.ts: name, component
//   a model of the menu                    features/header/header.tsx, MODELS
//   a request to the worker                worker/verbs; its types: store/protocol.ts; its parts: store/receive.ts
//   a text                                 texts/en.ts and texts/zh.ts, or next to its component
//
// A component reads the signals of store/session.ts and changes them only by the session's actions: `update` for a
// change that can be undone, `look` for the cell that is explained, and others for state that is neither undone nor in
// the address.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import type { Session } from './session.ts';

export const SessionContext = createContext(null as Session | null);

export const useSession = (): Session => useContext(SessionContext) as Session;

/** Returns the texts of a part that is loaded later, in the language of the page. */
export const useTexts = <T>(texts: { en: T; zh: T }): T => texts[useSession().language.value];
