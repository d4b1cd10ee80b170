// Adds, shows, changes and closes the models that a visitor or a program has opened.

import { type ReadonlySignal, signal } from '@preact/signals';
import type { About, PartListeners, Summary } from '../../model/protocol/protocol.ts';
import { MAX_TEXT, type State } from '../../model/state.ts';
import type { Document } from '../document.ts';
import { textFor } from '../firstViews.ts';
import { readOnly } from '../readOnly.ts';
import type { Requests } from '../requests.ts';
import { createFileReader } from './fileReading.ts';
import { isPicture, isSound, type SelectedFile } from './fileSelection.ts';
import type { Hub } from './hub.ts';
import { createModelChoice } from './modelChoice.ts';
import { createOpenedModels } from './openedModels.ts';

const createWeightChanges = (requests: Requests, state: ReadonlySignal<State>) => ({
  nameTokens: (tokens: string[]) => requests.send({ verb: 'nameTokens', name: state.peek().model, tokens: { tokens } }),
  splitHeads: (heads: number) => requests.send({ verb: 'split', name: state.peek().model, heads }),
});

/** The name of the handmade heads that read pictures. */
const PATCHES = 'patches';
/** Returns the name of the model that is to read a picture. `about`: the current one. */
const readerOfPictures = (about: About | null | undefined) =>
  about && (about.reads === 'picture' || about.matches) ? about.name : PATCHES;

/**
 * Shows each model once it is open. If a link leads to a model of the Hub, shows another model until it is downloaded.
 */
function createArrivals({
  requests,
  document,
  models,
  files,
  choose,
}: {
  requests: Requests;
  document: Document;
  models: ReturnType<typeof createOpenedModels>;
  files: ReturnType<typeof createFileReader>;
  choose: (name: string, view?: Partial<State>) => void;
}) {
  /** Models of the Hub; null until the panel is shown, whose code is loaded later. */
  const hub = signal(null as Hub | null);
  /** The state of a link whose model is not open yet. */
  let link: State | null = null;

  /** `about`: of an opened model. */
  function present(about: About, panel: 'summary' | null = null) {
    files.finish();
    files.actions.setPanel(panel);
    const view = hub.peek()?.takeView();
    const state = link;
    link = null;
    if (state?.model === about.name) document.substitute(() => document.update(state));
    else choose(about.name, view);
  }
  return {
    hub,
    addFromFiles({ about, summary }: { about: About; summary: Summary | null }) {
      models.add({ about, summary });
      // For attention weights no panel is opened, because the page shows their summary instead of predictions.
      present(about, about.kind === 'transformer' ? 'summary' : null);
    },
    startHub(HubOfPanel: typeof Hub) {
      hub.value ??= new HubOfPanel({ requests, files, aboutOf: models.aboutOf, present }, link);
    },
    /** Shows the demo model until the model of a link has been downloaded. */
    follow(state: State) {
      document.substitute(() => choose('whale'), 'later');
      link = state;
      files.actions.setPanel('choose');
      hub.peek()?.follow(link);
    },
  };
}

export function createOpening({
  requests,
  document,
  continueTraining,
}: {
  requests: Requests;
  document: Document;
  /** continues a model that this page has trained and saved */
  continueTraining: (bytes: Uint8Array) => void;
}) {
  const { update, state } = document;
  const models = createOpenedModels();
  const { aboutOf } = models;
  const files = createFileReader(requests);
  const { setPanel } = files.actions;
  const { choose, firstText, restoreText } = createModelChoice({ update, state, aboutOf });
  const { hub, addFromFiles, startHub, follow } = createArrivals({ requests, document, models, files, choose });

  /** Frees a model in the worker. */
  function remove(name: string) {
    models.remove(name);
    setPanel(null);
    requests.send({ verb: 'close', name });
  }
  function openPicture(file: Blob) {
    const name = readerOfPictures(aboutOf(state.peek().model));
    if (name === PATCHES && state.peek().model !== name) choose(name);
    setPanel(null);
    requests.send({ verb: 'picture', name, file });
  }
  /** Opens files of models or of weights. A model that this page has trained is shown as a training. */
  async function openFiles(selected: SelectedFile[], title?: string) {
    const [{ path, file }] = selected;
    if (selected.length === 1 && /\.safetensors$/i.test(path)) {
      const { trainedModelIn } = await import('../../model/savedTraining.ts');
      const bytes = await trainedModelIn(file);
      if (bytes) {
        setPanel(null);
        return continueTraining(bytes);
      }
    }
    files.open(selected, title);
  }
  /** Sends the sound in a file to the current model. */
  async function hearFile(file: Blob & { name?: string }) {
    const about = aboutOf(state.peek().model);
    if (about?.reads !== 'sound') return files.report({ code: 'noListener', values: [] });
    setPanel(null);
    try {
      const { decodeSound, RATE } = await import('./decodeSound.ts');
      const samples = await decodeSound(file);
      requests.send({ verb: 'sound', name: about.name, samples, rate: RATE });
    } catch {
      return files.report({ code: 'noSound', values: [file.name ?? ''] });
    }
    // The decoder's text was the answer to the previous sound.
    if (state.peek().model === about.name) update({ second: about.prompt ?? '', cell: null });
  }

  return {
    hearFile,
    parts: {
      opening: files.setProgress,
      opened: addFromFiles,
      changed: requests.show,
      hub: (part) => hub.peek()?.receive(part),
    } as Pick<PartListeners, 'opening' | 'opened' | 'changed' | 'hub'>,
    opened: models.opened,
    aboutOf,
    choose,
    firstText,
    restoreText,
    ...files.actions,
    ...createWeightChanges(requests, state),
    hub: readOnly(hub),
    startHub,
    follow,
    open(selected: SelectedFile[], title?: string) {
      setPanel('choose');
      if (!files.accepts(selected)) return;
      files.clearProblem();
      if (isPicture(selected)) openPicture(selected[0].file);
      else if (isSound(selected)) hearFile(selected[0].file);
      else openFiles(selected, title);
    },
    /** Sets the text, truncated and reported if it is too long. */
    setText(text: string, gesture: string) {
      if (text.length > MAX_TEXT) files.report({ code: 'long', values: [text.length, MAX_TEXT] });
      update({ text: text.slice(0, MAX_TEXT) }, gesture);
    },
    /** `hasText`: true if the program set a text. */
    addFromProgram(about: About, summary: Summary | null, hasText: boolean) {
      models.remove(about.name);
      models.add({ about, summary });
      if (!hasText && state.peek().model === about.name && about.kind === 'transformer') update(textFor(about));
    },
    close(name: string) {
      if (state.peek().model === name) choose('whale');
      remove(name);
    },
    /** Frees an opened model that cannot be shown; returns its title. */
    drop(name: string): string | undefined {
      const about = aboutOf(name);
      if (about) remove(name);
      return about?.title || undefined;
    },
    /** Forgets all opened models, because the worker that held them has died. */
    forget() {
      models.clear();
      files.stop();
      hub.peek()?.askFirst();
    },
  };
}
export type Opening = ReturnType<typeof createOpening>;
