// Adds, shows, changes and closes the models that a visitor or a program has opened.

import { signal } from '@preact/signals';
import { createFileReader } from './fileReading.js';
import { isPicture, isSound } from './fileSelection.js';
import { textFor } from './firstViews.js';
import { createModelChoice } from './modelChoice.js';
import { createOpenedModels } from './openedModels.js';
import { readOnly } from './readOnly.js';
import { MAX_TEXT } from './state.js';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { SelectedFile } from './fileSelection.js' */
/** @import { About, PartListeners, Summary } from './protocol.js' */
/** @import { Hub } from './hub.js' */
/** @import { Requests } from './requests.js' */
/** @import { State } from './state.js' */

/** Creates actions that change the shown weights. @param {Requests} requests @param {ReadonlySignal<State>} state */
const createWeightChanges = (requests, state) => ({
  /** Sets the texts of the tokens. @param {string[]} tokens */
  nameTokens: (tokens) => requests.send({ verb: 'nameTokens', name: state.peek().model, tokens: { tokens } }),
  /** Divides queries and keys into heads. @param {number} heads */
  splitHeads: (heads) => requests.send({ verb: 'split', name: state.peek().model, heads }),
});

/** The name of the handmade heads that read pictures. */
const PATCHES = 'patches';
/** Returns the name of the model that is to read a picture. @param {About | null | undefined} about current model */
const readerOfPictures = (about) => (about && (about.reads === 'picture' || about.matches) ? about.name : PATCHES);

/**
 * Shows each model once it is open. If a link leads to a model of the Hub, shows another model until it is downloaded.
 * @param {object} parts
 * @param {Requests} parts.requests
 * @param {import('./document.js').Document} parts.document
 * @param {ReturnType<typeof createOpenedModels>} parts.models
 * @param {ReturnType<typeof createFileReader>} parts.files
 * @param {(name: string, view?: Partial<State>) => void} parts.choose
 */
function createArrivals({ requests, document, models, files, choose }) {
  /** Models of the Hub; null until the panel is shown, whose code is loaded later. */
  const hub = signal(/** @type {Hub | null} */ (null));
  /** The state of a link whose model is not open yet. @type {State | null} */
  let link = null;

  /** @param {About} about of an opened model @param {'summary' | null} [panel] */
  function present(about, panel = null) {
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
    /** @param {{ about: About, summary: Summary | null }} model */
    addFromFiles({ about, summary }) {
      models.add({ about, summary });
      // For attention weights no panel is opened, because the page shows their summary instead of predictions.
      present(about, about.kind === 'transformer' ? 'summary' : null);
    },
    /** @param {typeof Hub} HubOfPanel */
    startHub(HubOfPanel) {
      hub.value ??= new HubOfPanel({ requests, files, aboutOf: models.aboutOf, present }, link);
    },
    /** Shows the demo model until the model of a link has been downloaded. @param {State} state of the link */
    follow(state) {
      document.substitute(() => choose('whale'), 'later');
      link = state;
      files.actions.setPanel('choose');
      hub.peek()?.follow(link);
    },
  };
}

/**
 * @param {object} store
 * @param {Requests} store.requests
 * @param {import('./document.js').Document} store.document
 * @param {(bytes: Uint8Array) => void} store.continueTraining continues a model that this page has trained and saved
 */
export function createOpening({ requests, document, continueTraining }) {
  const { update, state } = document;
  const models = createOpenedModels();
  const { aboutOf } = models;
  const files = createFileReader(requests);
  const { setPanel } = files.actions;
  const { choose, firstText, restoreText } = createModelChoice({ update, state, aboutOf });
  const { hub, addFromFiles, startHub, follow } = createArrivals({ requests, document, models, files, choose });

  /** Frees a model in the worker. @param {string} name */
  function remove(name) {
    models.remove(name);
    setPanel(null);
    requests.send({ verb: 'close', name });
  }
  /** @param {Blob} file */
  function openPicture(file) {
    const name = readerOfPictures(aboutOf(state.peek().model));
    if (name === PATCHES && state.peek().model !== name) choose(name);
    setPanel(null);
    requests.send({ verb: 'picture', name, file });
  }
  /**
   * Opens files of models or of weights. A model that this page has trained is shown as a training.
   * @param {SelectedFile[]} selected @param {string} [title]
   */
  async function openFiles(selected, title) {
    const [{ path, file }] = selected;
    if (selected.length === 1 && /\.safetensors$/i.test(path)) {
      const { trainedModelIn } = await import('../features/open/savedTraining.js');
      const bytes = await trainedModelIn(file);
      if (bytes) {
        setPanel(null);
        return continueTraining(bytes);
      }
    }
    files.open(selected, title);
  }
  /** Sends the sound in a file to the current model. @param {Blob & { name?: string }} file */
  async function hearFile(file) {
    const about = aboutOf(state.peek().model);
    if (about?.reads !== 'sound') return files.report({ code: 'noListener', values: [] });
    setPanel(null);
    try {
      const { decodeSound, RATE } = await import('../features/sound/decodeSound.js');
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
    /** @type {Pick<PartListeners, 'opening' | 'opened' | 'changed' | 'hub'>} */
    parts: {
      opening: files.setProgress,
      opened: addFromFiles,
      changed: requests.show,
      hub: (part) => hub.peek()?.receive(part),
    },
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
    /** @param {SelectedFile[]} selected @param {string} [title] */
    open(selected, title) {
      setPanel('choose');
      if (!files.accepts(selected)) return;
      files.clearProblem();
      if (isPicture(selected)) openPicture(selected[0].file);
      else if (isSound(selected)) hearFile(selected[0].file);
      else openFiles(selected, title);
    },
    /** Sets the text, truncated and reported if it is too long. @param {string} text @param {string} gesture */
    setText(text, gesture) {
      if (text.length > MAX_TEXT) files.report({ code: 'long', values: [text.length, MAX_TEXT] });
      update({ text: text.slice(0, MAX_TEXT) }, gesture);
    },
    /** @param {About} about @param {Summary | null} summary @param {boolean} hasText true if the program set a text */
    addFromProgram(about, summary, hasText) {
      models.remove(about.name);
      models.add({ about, summary });
      if (!hasText && state.peek().model === about.name && about.kind === 'transformer') update(textFor(about));
    },
    /** @param {string} name */
    close(name) {
      if (state.peek().model === name) choose('whale');
      remove(name);
    },
    /** Frees an opened model that cannot be shown. @param {string} name @returns {string | undefined} its title */
    drop(name) {
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
/** @typedef {ReturnType<typeof createOpening>} Opening */
