// A visitor's own files: what is being opened, what was recognised or is wrong, and the models that are open.

import { signal } from '@preact/signals';
import { isIncomplete, joined } from '../features/open/addedFiles.js';
import { readOnly } from './readOnly.js';
import { UNCHANGED } from './runInput.js';
import { initialState, MOST_TEXT } from './state.js';

/** More files than this at once are no model: a folder of everything was dropped. */
const MOST_FILES = 400;
/** What models of the menu are shown with first. */
const FIRST = {
  whale: { text: initialState.text, layer: initialState.layer, head: initialState.head },
  constructed: {
    text: 'In the house by the sea lives a cat, and it is hungry.',
    layer: 0,
    head: 5,
    cell: { t: 11, s: 8 },
  },
  patches: { text: '', layer: 0, head: 0, cell: { t: 38, s: 24 } },
  sentence: { text: 'How do whales sleep?', second: 'When does a whale rest?', layer: 1, head: 0 },
};
const OPENING = {
  next: 'Once upon a time there was a whale. Once upon a time there was',
  numbers: '1 2 3 4 5 6 7 8 1 2 3 4',
};

/** The folder that all files are in, or the file's name. @param {{ path: string }[]} files */
function titleOf(files) {
  const [{ path }] = files;
  const folder = path.split('/').slice(0, -1).pop();
  return folder ?? (files.length === 1 ? path : (files.find(({ path }) => /\./.test(path))?.path ?? path));
}

/**
 * The files of one model: a folder of several is opened as its first.
 * @param {{ path: string, file: Blob }[]} files
 */
function ofOneFolder(files) {
  const configs = files.filter(({ path }) => /(^|\/)config\.json$/.test(path));
  if (configs.length < 2) return files;
  const shortest = configs.reduce((a, b) => (a.path.split('/').length <= b.path.split('/').length ? a : b));
  const folder = shortest.path.slice(0, -'config.json'.length);
  return files.filter(({ path }) => path.startsWith(folder) && !path.slice(folder.length).includes('/'));
}

/**
 * @param {object} page
 * @param {() => ReturnType<typeof import('../worker/client.js').createAsk>} page.ask
 * @param {(patch: object, gesture?: string) => void} page.update
 * @param {() => any} page.state
 * @param {() => void} page.show
 */
export function createOpening({ ask, update, state, show }) {
  /** Models that are open. @type {import('@preact/signals').Signal<{ about: any, summary: any }[]>} */
  const opened = signal([]);
  /** What is being read. */
  const reading = signal(/** @type {{ title: string, read: number, total: number } | null} */ (null));
  /** What is wrong with the last files, as a code and its values. */
  const problem = signal(/** @type {{ code: string, values: any[], message?: string } | null} */ (null));
  /** Whether the panel is open, and what it tells. */
  const panel = signal(/** @type {'choose' | 'summary' | null} */ (null));
  /** Texts by model: going back to one brings its text back. @type {Map<string, object>} */
  const texts = new Map();
  let count = 0;
  /** Files of the last attempt, and of a model that is not whole yet. @type {{ path: string, file: Blob }[][]} */
  let [tried, partial] = [[], []];

  const parts = {
    opening: ({ read, total }) => reading.value && (reading.value = { ...reading.value, read, total }),
    opened({ about, told }) {
      opened.value = [...opened.value, { about, summary: told }];
      reading.value = null;
      problem.value = null;
      partial = [];
      // Of weights it stands where a model has its guesses.
      panel.value = about.kind === 'transformer' ? 'summary' : null;
      choose(about.name);
    },
    named: show,
    pictured: show,
  };

  /** The text that a model is shown with first. @param {any} about */
  function textFor(about) {
    if (about.kind === 'layer') return {};
    if (about.reads === 'pair' && !about.words) return { text: OPENING.numbers, second: '' };
    if (about.reads === 'numbers') return { text: OPENING.numbers };
    if (about.reads === 'pair') return { text: 'translate English to German: The whale is white.', second: '' };
    if (about.mask) return { text: `To the last I grapple with thee, Moby ${about.mask}.` };
    return { text: OPENING.next };
  }

  /** @param {string} name */
  function choose(name) {
    const now = state();
    texts.set(now.model, { text: now.text, second: now.second });
    const found = opened.value.find(({ about }) => about.name === name);
    const { text: own, second = '', ...place } = FIRST[/** @type {'whale'} */ (name)] ?? FIRST.whale;
    const fresh = found ? textFor(found.about) : { text: own, second };
    const first = found ? { layer: 0, head: 0 } : place;
    const part = found?.about.parts[0] ?? 'decoder';
    const text = found?.about.reads === 'nothing' || found?.about.reads === 'picture' ? {} : (texts.get(name) ?? fresh);
    // A view that cannot show the model would be empty.
    const view = (found ? found.about.sums : name === 'whale') ? {} : { view: 'heatmap' };
    update({ model: name, ...view, ...text, part, cell: null, token: null, ...first, ...UNCHANGED, pinned: null });
  }

  /** The text that the model shown begins with, where it has one. */
  function firstText() {
    const found = opened.value.find(({ about }) => about.name === state().model);
    const own = found ? textFor(found.about) : FIRST[/** @type {'whale'} */ (state().model)];
    return own?.text ? { text: own.text, second: own.second ?? '' } : null;
  }

  /** @param {{ path: string, file: Blob }[]} files @param {string} title @param {boolean} [transposed] */
  function start(files, title, transposed = false) {
    problem.value = null;
    reading.value = { title, read: 0, total: files.reduce((sum, { file }) => sum + file.size, 0) };
    ask().ask({ verb: 'open', name: `opened-${++count}`, title, files, transposed });
  }

  /** What an opened model is. @param {string} name */
  const aboutOf = (name) => opened.value.find(({ about }) => about.name === name)?.about ?? null;

  return {
    firstText,
    aboutOf,
    /** Frees an opened model that cannot be shown. @param {string} name @returns {string | undefined} its title */
    drop(name) {
      const about = aboutOf(name);
      if (!about) return undefined;
      opened.value = opened.value.filter((one) => one.about !== about);
      panel.value = null;
      ask().ask({ verb: 'close', name });
      return about.title || undefined;
    },
    restoreText: () => update(/** @type {object} */ (firstText())),
    /**
     * What was handed over is a model like others.
     * @param {any} about @param {any} summary @param {boolean} written its text is chosen
     */
    adopt(about, summary, written) {
      opened.value = [...opened.value.filter(({ about: { name } }) => name !== about.name), { about, summary }];
      if (!written && state().model === about.name && about.kind === 'transformer') update(textFor(about));
    },
    opened: readOnly(opened),
    reading: readOnly(reading),
    problem: readOnly(problem),
    panel: readOnly(panel),
    /** @param {'choose' | 'summary' | null} shown */
    setPanel(shown) {
      panel.value = shown;
    },
    parts,
    choose,
    /** @param {{ path: string, file: Blob }[]} files @param {string} [title] */
    open(files, title) {
      panel.value = 'choose';
      if (files.length === 0) return (problem.value = { code: 'noFiles', values: [] });
      if (files.length > MOST_FILES) return (problem.value = { code: 'manyFiles', values: [files.length, MOST_FILES] });
      problem.value = null;
      const picture = files.length === 1 && files[0].file.type.startsWith('image/');
      if (picture) {
        const now = opened.value.find(({ about }) => about.name === state().model)?.about;
        // Where no model reads pictures, heads made by hand do.
        const name = now?.reads === 'picture' ? now.name : 'patches';
        if (name === 'patches' && state().model !== name) choose(name);
        panel.value = null;
        return ask().ask({ verb: 'picture', name, file: files[0].file });
      }
      const chosen = ofOneFolder(joined(partial, files));
      tried = chosen;
      start(chosen, title ?? titleOf(chosen));
    },
    /** The files of the last attempt, with the last two axes of their weights swapped. */
    transpose: () => start(tried, titleOf(tried), true),
    /**
     * A text that is longer than the page can hold is cut, and that is said.
     * @param {string} text @param {string} gesture
     */
    setText(text, gesture) {
      if (text.length > MOST_TEXT) {
        problem.value = { code: 'long', values: [text.length, MOST_TEXT] };
        panel.value = 'choose';
      }
      update({ text: text.slice(0, MOST_TEXT) }, gesture);
    },
    /** Texts for the tokens of the weights that are shown. @param {string[]} tokens */
    nameTokens: (tokens) => ask().ask({ verb: 'name', name: state().model, tokens: { tokens } }),
    /** Into how many heads queries and keys are split. @param {number} heads */
    splitHeads: (heads) => ask().ask({ verb: 'split', name: state().model, heads }),
    cancel() {
      reading.value = null;
      ask().cancel('open');
    },
    /** @param {{ message: string, code?: string, values?: any[] }} error */
    failed({ message, code = 'other', values = [] }) {
      reading.value = null;
      if (isIncomplete(code)) partial = tried;
      problem.value = { code, values, message };
      panel.value = 'choose';
    },
    /** @param {string} name */
    close(name) {
      if (state().model === name) choose('whale');
      opened.value = opened.value.filter(({ about }) => about.name !== name);
      panel.value = null;
      ask().ask({ verb: 'close', name });
    },
    /** After a worker that has died nothing is open any more. */
    forget() {
      opened.value = [];
      reading.value = null;
    },
  };
}
