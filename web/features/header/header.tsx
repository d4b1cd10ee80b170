// The header: the name of the page, the menu of models, and buttons for the page as a whole.

import { useState } from 'preact/hooks';
import { TRAINED } from '../../model/runInput.ts';
import { COUNT, numberedStep } from '../../model/storySteps.ts';
import { isOpen } from '../../model/training/settings.ts';
import { goToFirst } from '../../parts/goToFirst.ts';
import { openStory } from '../../parts/goToStep.ts';
import { later } from '../../parts/lazy.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import type { Strings } from '../../texts/languages.ts';
import { type Item, Menu } from '../../ui/menu.tsx';
import { useClosing } from '../../ui/useOpening.ts';
import { Opening } from '../open/feature.ts';
import { Zhongwen } from './otherLanguage.tsx';

const HelpText = later(() => import('./help.tsx'), 'HelpText');

export type Size = { layers: number; heads: number };
/** entry of the menu */
export type Model = {
  /** value of state.model that chooses this model */
  name: string;
  label: (words: Strings) => string;
  about: (words: Strings, size: Size) => string;
};

/** The size of the demo model, shown until the model is loaded. */
const DEMO: Size = { layers: 5, heads: 4 };
const OTHERS = ['sentence', 'constructed', 'patches'] as const;
/** The models that the page includes. */
const MODELS: Model[] = [
  { name: 'whale', label: (words) => words.whale, about: (words, size) => words.whaleAbout(size) },
  ...OTHERS.map((name) => ({
    name,
    label: (words: Strings) => words.others[name][0],
    about: (words: Strings) => words.others[name][1],
  })),
];
/** Maximum number of models trained in this browser that the menu lists. */
const MAX_TRAINED = 6;

/** Returns true if the story can be shown, which needs the demo model. */
const hasStory = ({ models }: { models: readonly string[] }) => models.includes('whale');

export function Header({ phone }: { phone: boolean }) {
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

function SkipFirst() {
  const session = useSession();
  return (
    <button type="button" class="word skip-first" onClick={() => goToFirst(session, null)}>
      {session.words.value.first.skipShort}
    </button>
  );
}

/** Returns the label of the model that is trained here: "Repeat, in training", later "Repeat, 600 steps". */
function trainedLabel(session: Session, phone: boolean) {
  const words = session.words.value.train;
  const { training } = session;
  const { task } = session.state.value.training;
  const steps = training.progress.value?.steps ?? session.about.value?.trained?.steps ?? 0;
  if (phone) return words.models[task];
  return isOpen(session.state.value) ? words.inTraining(task) : words.trained(task, steps);
}

/** Returns the models that are not trained here: the included and the opened ones. */
function modelsOf(session: Session): Model[] {
  const opened = session.opening.opened.value.map(({ about: { name, title, family, layers, heads } }) => ({
    name,
    label: (words: Strings) => title || words.open.weights,
    about: (words: Strings) => `${family ?? words.open.yours}, ${layers} × ${heads}`,
  }));
  return [...MODELS.filter(({ name }) => session.models.includes(name)), ...opened];
}

function labelOf(session: Session, phone: boolean) {
  const { model } = session.state.value;
  if (model === TRAINED) return trainedLabel(session, phone);
  const models = modelsOf(session);
  const chosen = models.find(({ name }) => name === model) ?? models[0] ?? MODELS[0];
  return chosen.label(session.words.value);
}

function ModelMenu({ phone }: { phone: boolean }) {
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
  const items = [...models, ...trained, open] as Item[];
  return <Menu className="model-menu" name={`${words.models}: ${label}`} label={label} items={items} />;
}

function Progress({ phone }: { phone: boolean }) {
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
/** Returns the items of the menu that lead to these addresses, in one line. */
function places({ words, embedded }: Session): Item[] {
  const { links } = words.value;
  const found = embedded
    ? []
    : PLACES.flatMap((rel, i) => {
        const link = document.head.querySelector(`link[rel=${rel}]`) as HTMLLinkElement | null;
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

function toggleStory(session: Session) {
  const { panel, step } = session.state.peek();
  if (panel === 'story') session.update({ panel: 'reading' });
  else openStory(session, step);
}

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

/** Shows the model that was shown before the training with its text, or the demo model. */
function leaveTraining({ state, training, opening, models }: Session) {
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
