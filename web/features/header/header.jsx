// The name, the model, and what belongs to the page as a whole.

import { TRAINED } from '../../store/runInput.js';
import { useSession } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';
import { Opens } from '../../ui/popover.jsx';
import { Open } from '../open/open.jsx';
import { goTo } from '../story/goTo.js';
import { STEPS } from '../story/steps.js';
import { isOpen } from '../train/lessons.js';

/** Models of the menu: the name in state.model, its texts in the strings. */
const MODELS = [
  { name: 'whale', label: (words) => words.whale, about: (words, about) => words.whaleAbout(about) },
  ...['sentence', 'constructed', 'patches'].map((name) => ({
    name,
    label: (words) => words.others[name][0],
    about: (words) => words.others[name][1],
  })),
];
const WHALE = { layers: 5, heads: 4 };
/** Models trained here that the menu offers. */
const MOST_KEPT = 6;

/** The story is about the whale. */
const hasStory = ({ models }) => models.includes('whale');

/** Repeat, in training; afterwards how many steps it has learned for. */
function trainedLabel(session, phone) {
  const words = session.words.value.train;
  const { training } = session;
  const { task } = session.state.value.training;
  const steps = training.progress.value?.steps ?? session.about.value?.trained?.steps ?? 0;
  if (phone) return words.tasks[task];
  return isOpen(session.state.value) ? words.inTraining(task) : words.trained(task, steps);
}

export function Header({ phone }) {
  const session = useSession();
  const words = session.words.value;
  const { model } = session.state.value;
  const about = session.about.value;
  const share = session.progress.value;
  const { opened } = session.opening;
  const own = opened.value.map(({ about: { name, title, family, layers, heads } }) => ({
    name,
    label: (words) => title || words.open.kinds[1][0],
    about: () => `${family ?? words.open.yours}, ${layers} × ${heads}`,
  }));
  const models = [...MODELS.filter(({ name }) => session.models.includes(name)), ...own];
  const chosen = models.find(({ name }) => name === model) ?? models[0] ?? MODELS[0];
  const label = model === TRAINED ? trainedLabel(session, phone) : chosen.label(words);
  const reads = session.state.value.panel === 'story';
  const kept = session.training.savedModels.value.slice(0, MOST_KEPT);
  // On a phone the header has no room for their words.
  const rooms = [
    ...(hasStory(session)
      ? [{ key: 'story', label: reads ? words.story.leave : words.story.open, act: () => turnStory(session) }]
      : []),
    { key: 'train', label: words.train.train, act: () => session.training.enter() },
  ];
  return (
    <header class="header">
      <h1>Headlight</h1>
      <Menu
        className="model-menu"
        name={`${words.models}: ${label}`}
        label={label}
        items={[
          ...models.map(({ name, label, about: tell }) => ({
            key: name,
            label: label(words),
            about: tell(words, about?.name === 'whale' ? about : WHALE),
            chosen: name === model,
            act: () => name !== model && session.opening.choose(name),
          })),
          ...kept.map((one) => ({
            key: one.key,
            label: words.train.trained(one.settings.task, one.steps),
            about: words.train.keptHere(one.settings),
            chosen: model === TRAINED && one.key === session.training.progress.value?.key,
            act: () => session.training.open(one),
          })),
          ...(phone ? rooms : []),
          {
            key: 'open',
            label: words.open.open,
            about: words.open.title,
            act: () => session.opening.setPanel('choose'),
          },
        ]}
      />
      <Open />
      {share !== null && (
        <span class="progress" role="progressbar" aria-label={label} aria-valuenow={Math.round(100 * share)}>
          {words.loading(share)}
        </span>
      )}
      {share === null && session.loading.value && (
        <span class="progress" role="progressbar" aria-label={label}>
          {words.coming}
        </span>
      )}
      {share !== null && model === 'sentence' && (
        <button type="button" class="word strong cancel" onClick={() => session.opening.close(model)}>
          {words.open.cancel}
        </button>
      )}
      {/* Of several in one page none is a landmark. */}
      <nav {...(session.embedded ? { role: 'none' } : { 'aria-label': 'Headlight' })}>
        {!phone && hasStory(session) && <StoryWord />}
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
    </header>
  );
}

/** On a phone the header has no room for it: it stands in the help there. */
function OtherLanguage() {
  const session = useSession();
  const next = session.language.value === 'en' ? 'zh' : 'en';
  const { other } = session.words.value;
  return (
    <button
      type="button"
      class="word language"
      lang={next === 'zh' ? 'zh-Hans' : 'en'}
      aria-label={other}
      onClick={() => session.setLanguage(next)}
    >
      {next === 'zh' ? <Zhongwen /> : other}
    </button>
  );
}

/** 中文, drawn: many machines whose pages are English have no letters for it. */
function Zhongwen() {
  return (
    <svg class="zhongwen" viewBox="0 0 32 16" aria-hidden="true">
      <path d="M2.5 4.5h11v5.5h-11zM8 1.5v13.5" />
      <path d="M24 1.5v2.5M17.5 4.5h13M28 5c-1.3 4.8-5 8.3-10.5 9.7M20 5c1.3 4.8 5 8.3 10.5 9.7" />
    </svg>
  );
}

function turnStory(session) {
  const { panel, step } = session.state.peek();
  if (panel === 'story') session.update({ panel: 'reading' });
  else goTo(session, step);
}

/** Opens the story and closes it; where it is open it says how far one has come. */
function StoryWord() {
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
      onClick={() => turnStory(session)}
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
      <div class="list right help" role="dialog" aria-label={words.help}>
        <OtherLanguage />
        <h2>{words.keys}</h2>
        <dl>
          {words.keyList.map(([keys, what]) => (
            <div key={keys}>
              <dt>{keys}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <h2>{words.terms}</h2>
        <dl>
          {words.termList.map(([term, what]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Opens>
  );
}
