// The header: the name of the page, the menu of models, and buttons for the page as a whole.

import { useState } from 'preact/hooks';
import { TRAINED } from '../../store/runInput.js';
import { useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';
import { Menu } from '../../ui/menu.jsx';
import { useClosing } from '../../ui/useOpening.js';
import { goToFirst } from '../first/firstSteps.js';
import { Opening } from '../open/opening.jsx';
import { openStory } from '../story/goTo.js';
import { COUNT, numberedStep } from '../story/steps.js';
import { isOpen } from '../train/settings.js';
import { Zhongwen } from './otherLanguage.jsx';

const HelpText = later(() => import('./help.jsx'), 'HelpText');

/** @import { Session } from '../../store/session.js' */
/** @import { Strings } from '../../texts/languages.js' */
/** @import { Item } from '../../ui/menu.jsx' */
/** @typedef {{ layers: number, heads: number }} Size size of a model */
/**
 * @typedef {object} Model entry of the menu
 * @property {string} name value of state.model that chooses this model
 * @property {(words: Strings) => string} label
 * @property {(words: Strings, size: Size) => string} about
 */

/** The size of the demo model, shown until the model is loaded. @type {Size} */
const DEMO = { layers: 5, heads: 4 };
const OTHERS = /** @type {const} */ (['sentence', 'constructed', 'patches']);
/** The models that the page includes. @type {Model[]} */
const MODELS = [
  { name: 'whale', label: (words) => words.whale, about: (words, size) => words.whaleAbout(size) },
  ...OTHERS.map((name) => ({
    name,
    label: (/** @type {Strings} */ words) => words.others[name][0],
    about: (/** @type {Strings} */ words) => words.others[name][1],
  })),
];
/** Maximum number of models trained in this browser that the menu lists. */
const MAX_TRAINED = 6;

/**
 * Returns true if the story can be shown, which needs the demo model.
 * @param {{ models: readonly string[] }} session
 */
const hasStory = ({ models }) => models.includes('whale');

/** @param {{ phone: boolean }} props */
export function Header({ phone }) {
  const session = useSession();
  const inFirst = session.state.value.first !== null && !session.embedded;
  return (
    <header class="header">
      <h1>Headlight</h1>
      <Opening>
        <ModelMenu phone={phone} />
      </Opening>
      <Progress phone={phone} />
      {inFirst ? <SkipFirst /> : <Navigation />}
    </header>
  );
}

/** A button that ends the first visit. */
function SkipFirst() {
  const session = useSession();
  return (
    <button type="button" class="word skip-first" onClick={() => goToFirst(session, null)}>
      {session.words.value.first.skipShort}
    </button>
  );
}

/** Returns the label of the model that is trained here: "Repeat, in training", later "Repeat, 600 steps". */
function trainedLabel(/** @type {Session} */ session, /** @type {boolean} */ phone) {
  const words = session.words.value.train;
  const { training } = session;
  const { task } = session.state.value.training;
  const steps = training.progress.value?.steps ?? session.about.value?.trained?.steps ?? 0;
  if (phone) return words.models[task];
  return isOpen(session.state.value) ? words.inTraining(task) : words.trained(task, steps);
}

/**
 * Returns the models that are not trained here: the included and the opened ones.
 * @param {Session} session @returns {Model[]}
 */
function modelsOf(session) {
  const opened = session.opening.opened.value.map(({ about: { name, title, family, layers, heads } }) => ({
    name,
    label: (/** @type {Strings} */ words) => title || words.open.weights,
    about: (/** @type {Strings} */ words) => `${family ?? words.open.yours}, ${layers} × ${heads}`,
  }));
  return [...MODELS.filter(({ name }) => session.models.includes(name)), ...opened];
}

/** Returns the name of the current model. @param {Session} session @param {boolean} phone */
function labelOf(session, phone) {
  const { model } = session.state.value;
  if (model === TRAINED) return trainedLabel(session, phone);
  const models = modelsOf(session);
  const chosen = models.find(({ name }) => name === model) ?? models[0] ?? MODELS[0];
  return chosen.label(session.words.value);
}

/** @param {{ phone: boolean }} props */
function ModelMenu({ phone }) {
  const session = useSession();
  const words = session.words.value;
  const { model } = session.state.value;
  const about = session.about.value;
  const label = labelOf(session, phone);
  const models = modelsOf(session).map((entry) => ({
    key: entry.name,
    label: entry.label(words),
    about: entry.about(words, about?.name === 'whale' ? about : DEMO),
    chosen: entry.name === model,
    act: () => entry.name !== model && session.opening.choose(entry.name),
  }));
  const trained = session.training.savedModels.value.slice(0, MAX_TRAINED).map((one) => ({
    key: one.key,
    label: words.train.trained(one.settings.task, one.steps),
    about: words.train.keptHere(one.settings),
    chosen: model === TRAINED && one.key === session.training.progress.value?.key,
    act: () => session.training.open(one),
  }));
  const open = {
    key: 'open',
    label: words.open.open,
    about: words.open.title,
    act: () => session.opening.setPanel('choose'),
  };
  const items = /** @type {Item[]} */ ([...models, ...trained, open]);
  return <Menu className="model-menu" name={`${words.models}: ${label}`} label={label} items={items} />;
}

/** Shows the progress of loading a model. @param {{ phone: boolean }} props */
function Progress({ phone }) {
  const session = useSession();
  const words = session.words.value;
  const { model } = session.state.value;
  const share = session.progress.value;
  const label = labelOf(session, phone);
  if (share === null)
    return (
      session.loading.value && (
        <span class="progress" role="progressbar" aria-label={label}>
          {words.coming}
        </span>
      )
    );
  return (
    <>
      <span class="progress" role="progressbar" aria-label={label} aria-valuenow={Math.round(100 * share)}>
        {words.loading(share)}
      </span>
      {model === 'sentence' && (
        <button type="button" class="word strong cancel" onClick={() => session.opening.close(model)}>
          {words.open.cancel}
        </button>
      )}
    </>
  );
}

/** The buttons of the story and of training, and a menu of everything that is rarely needed. */
function Navigation() {
  const session = useSession();
  return (
    // An embedded instrument is no landmark, because a page may embed several.
    <nav {...(session.embedded ? { role: 'none' } : { 'aria-label': 'Headlight' })}>
      {hasStory(session) && <StoryButton />}
      <TrainButton />
      <MoreMenu />
    </nav>
  );
}

/** The addresses that only the page of the site has: documentation, source and licence. */
const PLACES = ['help', 'code-repository', 'license'];
/**
 * Returns the items of the menu that lead to these addresses, in one line.
 * @param {Session} session @returns {Item[]}
 */
function places({ words, embedded }) {
  const { links } = words.value;
  const found = embedded
    ? []
    : PLACES.flatMap((rel, i) => {
        const link = /** @type {HTMLLinkElement | null} */ (document.head.querySelector(`link[rel=${rel}]`));
        return link ? [{ key: `to-${rel}`, label: links[i], href: link.href }] : [];
      });
  const [first, ...more] = found;
  return first ? [more.length > 0 ? { ...first, more } : first] : [];
}

/** The menu More: the theme, the help with keys and terms, the table of all heads, the first visit, the language. */
function MoreMenu() {
  const session = useSession();
  const words = session.words.value;
  const [help, setHelp] = useState(false);
  const ref = useClosing(help, (byKey) => {
    setHelp(false);
    if (byKey) ref.current?.querySelector('button')?.focus();
  });
  const isDark = session.theme.value === 'dark';
  const next = session.language.value === 'en' ? 'zh' : 'en';
  const items = [
    {
      key: 'theme',
      label: words.themes[isDark ? 'light' : 'dark'],
      act: () => session.setTheme(isDark ? 'light' : 'dark'),
    },
    { key: 'help', label: words.helpAndKeys, act: () => setHelp(true) },
    ...(session.about.value && !isOpen(session.state.value)
      ? [{ key: 'table', label: words.allHeads, act: () => session.update({ panel: 'table' }) }]
      : []),
    ...(hasStory(session) && !session.embedded
      ? [{ key: 'replay', label: words.first.replay, act: () => goToFirst(session, 0) }]
      : []),
    {
      key: 'language',
      label: next === 'zh' ? <Zhongwen /> : words.other,
      name: words.other,
      act: () => session.setLanguage(next),
    },
    ...places(session),
  ];
  return (
    <span class="more-menu" ref={ref}>
      <Menu right label={words.more} items={items} />
      {help && <HelpText />}
    </span>
  );
}

/** @param {Session} session */
function toggleStory(session) {
  const { panel, step } = session.state.peek();
  if (panel === 'story') session.update({ panel: 'reading' });
  else openStory(session, step);
}

/** The button that opens and closes the story. While the story is open, the button shows the current step. */
function StoryButton() {
  const session = useSession();
  const words = session.words.value.story;
  const { panel, step } = session.state.value;
  const open = panel === 'story';
  const number = numberedStep(step);
  return (
    <button
      type="button"
      class={`word story-word ${open ? 'strong' : ''}`}
      title={open ? words.leave : words.open}
      aria-expanded={open}
      onClick={() => toggleStory(session)}
    >
      {open ? <b>{words.name}</b> : words.name}
      {open && number !== null && <span class="of"> {`${number + 1}/${COUNT}`}</span>}
    </button>
  );
}

/** Shows the model that was shown before the training with its text, or the demo model. @param {Session} session */
function leaveTraining({ state, training, opening, models }) {
  const before = training.modelBefore() ?? '';
  const known = [before, ...models].find((name) => models.includes(name) || opening.aboutOf(name));
  const { text, second } = state.peek();
  if (known) opening.choose(known, known === before ? { text, second } : {});
  else training.readText();
}

/** The button that opens training, and returns from it to the model that was shown before. */
function TrainButton() {
  const session = useSession();
  const words = session.words.value.train;
  const open = isOpen(session.state.value);
  return (
    <button
      type="button"
      class={`word train-word ${open ? 'strong' : ''}`}
      title={open ? words.leave : words.trainAbout}
      aria-expanded={open}
      onClick={open ? () => leaveTraining(session) : session.training.enter}
    >
      {open ? <b>{words.train}</b> : words.train}
    </button>
  );
}
