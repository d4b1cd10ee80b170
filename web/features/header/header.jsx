// The header: the page's name, the menu of models, and buttons for the page as a whole.

import { TRAINED } from '../../store/runInput.js';
import { useSession } from '../../ui/context.js';
import { later } from '../../ui/lazy.jsx';
import { Menu } from '../../ui/menu.jsx';
import { Opens } from '../../ui/popover.jsx';
import { Open } from '../open/openButton.jsx';
import { goTo } from '../story/goTo.js';
import { STEPS } from '../story/steps.js';
import { isOpen } from '../train/settings.js';
import { OtherLanguage } from './otherLanguage.jsx';

const HelpText = later(() => import('./help.jsx'), 'HelpText');

/** @import { Session } from '../../store/session.js' */
/** @import { Strings } from '../../texts/languages.js' */
/** @import { Item } from '../../ui/menu.jsx' */
/** @typedef {{ layers: number, heads: number }} Size of a model */
/**
 * @typedef {object} Model an entry of the menu
 * @property {string} name the value of state.model
 * @property {(words: Strings) => string} label
 * @property {(words: Strings, size: Size) => string} about
 */

/** The size of the demo model, until it is loaded. @type {Size} */
const DEMO = { layers: 5, heads: 4 };
const OTHERS = /** @type {const} */ (['sentence', 'constructed', 'patches']);
/** The included models. @type {Model[]} */
const MODELS = [
  { name: 'whale', label: (words) => words.whale, about: (words, size) => words.whaleAbout(size) },
  ...OTHERS.map((name) => ({
    name,
    label: (/** @type {Strings} */ words) => words.others[name][0],
    about: (/** @type {Strings} */ words) => words.others[name][1],
  })),
];
/** Maximum number of models trained here that the menu lists. */
const MAX_TRAINED = 6;

/** The story needs the demo model. @param {{ models: readonly string[] }} session */
const hasStory = ({ models }) => models.includes('whale');

/** @param {{ phone: boolean }} props */
export function Header({ phone }) {
  return (
    <header class="header">
      <h1>Headlight</h1>
      <ModelMenu phone={phone} />
      <Open />
      <Progress phone={phone} />
      <Navigation phone={phone} />
    </header>
  );
}

/** The label of a model that is trained here: "Repeat, in training", later "Repeat, 600 steps". */
function trainedLabel(/** @type {Session} */ session, /** @type {boolean} */ phone) {
  const words = session.words.value.train;
  const { training } = session;
  const { task } = session.state.value.training;
  const steps = training.progress.value?.steps ?? session.about.value?.trained?.steps ?? 0;
  if (phone) return words.tasks[task];
  return isOpen(session.state.value) ? words.inTraining(task) : words.trained(task, steps);
}

/** The models that are not trained here: included and opened ones. @param {Session} session @returns {Model[]} */
function modelsOf(session) {
  const opened = session.opening.opened.value.map(({ about: { name, title, family, layers, heads } }) => ({
    name,
    label: (/** @type {Strings} */ words) => title || words.open.weights,
    about: (/** @type {Strings} */ words) => `${family ?? words.open.yours}, ${layers} × ${heads}`,
  }));
  return [...MODELS.filter(({ name }) => session.models.includes(name)), ...opened];
}

/** The name of the current model. @param {Session} session @param {boolean} phone */
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
  const { model, panel } = session.state.value;
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
  const story = {
    key: 'story',
    label: panel === 'story' ? words.story.leave : words.story.open,
    act: () => toggleStory(session),
  };
  const train = { key: 'train', label: words.train.train, act: () => session.training.enter() };
  // On a phone the header has no room for these buttons.
  const buttons = [...(hasStory(session) ? [story] : []), train];
  const open = {
    key: 'open',
    label: words.open.open,
    about: words.open.title,
    act: () => session.opening.setPanel('choose'),
  };
  const items = /** @type {Item[]} */ ([...models, ...trained, ...(phone ? buttons : []), open]);
  return <Menu className="model-menu" name={`${words.models}: ${label}`} label={label} items={items} />;
}

/** The progress of loading a model. @param {{ phone: boolean }} props */
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

/** Story, training, language, theme and help. @param {{ phone: boolean }} props */
function Navigation({ phone }) {
  const session = useSession();
  const words = session.words.value;
  return (
    // A page may embed several instruments: then none is a landmark.
    <nav {...(session.embedded ? { role: 'none' } : { 'aria-label': 'Headlight' })}>
      {!phone && hasStory(session) && <StoryButton />}
      {!phone && !isOpen(session.state.value) && (
        <button type="button" class="word" onClick={() => session.training.enter()}>
          {words.train.train}
        </button>
      )}
      <OtherLanguage />
      <button
        type="button"
        class="word sign"
        aria-label={words.theme}
        onClick={() => session.setTheme(session.theme.value === 'dark' ? 'light' : 'dark')}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="8" cy="8" r="6.6" />
          <path d="M8 1.4a6.6 6.6 0 0 1 0 13.200z" />
        </svg>
      </button>
      <Help />
    </nav>
  );
}

/** @param {Session} session */
function toggleStory(session) {
  const { panel, step } = session.state.peek();
  if (panel === 'story') session.update({ panel: 'reading' });
  else goTo(session, step);
}

/** Opens and closes the story; while it is open, shows the current step. */
function StoryButton() {
  const session = useSession();
  const words = session.words.value.story;
  const { panel, step } = session.state.value;
  const open = panel === 'story';
  return (
    <button
      type="button"
      class={`word story-word ${open ? 'strong' : ''}`}
      title={open ? words.leave : words.open}
      aria-expanded={open}
      onClick={() => toggleStory(session)}
    >
      {open ? <b>{words.name}</b> : words.name}
      {open && <span class="of"> {`${step + 1}/${STEPS.length}`}</span>}
    </button>
  );
}

function Help() {
  const words = useSession().words.value;
  return (
    <Opens around="menu" sign="?" name={words.help} look="sign serif">
      <HelpText />
    </Opens>
  );
}
