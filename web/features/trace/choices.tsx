// One line of choices above the grid: the task, its pair of sentences, and the measure. It also shows the progress of
// the measurement.

import { useEffect, useRef } from 'preact/hooks';
import { MEASURES } from '../../model/trace/measures.ts';
import { countIn, type Trace } from '../../model/trace/places.ts';
import { ALL, OWN, TASKS } from '../../model/trace/settings.ts';
import type { TaskName as Name } from '../../model/trace/tasks.ts';
import { useSession } from '../../store/context.ts';
import { Menu } from '../../ui/menu.tsx';
import { Question } from './begin.tsx';
import type { Shared } from './sentences.tsx';
import { beginOwn, compareWords, pairsIn, showPair, textsIn } from './traceState.ts';

export function Choices({
  trace,
  writing,
  setWriting,
  asTable,
  setAsTable,
}: Shared & { asTable: boolean; setAsTable: (is: boolean) => void }) {
  const own = textsIn(useSession());
  return (
    <div class="trace-choices">
      <TaskMenu setWriting={setWriting} />
      <PairMenu />
      {trace?.problem === 'same' || trace?.problem === 'noPlace' ? null : writing === 'words' ? (
        <WordsField trace={trace} close={() => setWriting(null)} />
      ) : (
        <MeasureMenu trace={trace} setWriting={setWriting} />
      )}
      {trace && !trace.problem && (
        <button type="button" class="word" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? own.asGrid : own.asTable}
        </button>
      )}
      {trace && !trace.problem && <Progress trace={trace} />}
    </div>
  );
}

function TaskMenu({ setWriting }: Pick<Shared, 'setWriting'>) {
  const session = useSession();
  const own = textsIn(session);
  const { task } = session.state.value.trace;
  const tasks = session.traceTasks.value?.tasks ?? [];
  const pairsOf = (name: Name) => tasks.find((one) => one.name === name)?.pairs ?? [];
  const [question] = own.tasks[task as Name | 'own'];
  return (
    <Menu
      className="trace-tasks"
      label={<span class="question">{question}</span>}
      name={`${own.task}: ${question}`}
      items={[
        ...TASKS.map((name) => {
          const pairs = pairsOf(name);
          return {
            key: name,
            label: <Question name={name} pairs={pairs.length} />,
            name: [own.tasks[name][0], pairs.length > 0 ? own.tasks[name][1] : own.needs[name]].join(', '),
            chosen: name === task,
            disabled: pairs.length === 0,
            act: () => showPair(session, name, pairs, 0),
          };
        }),
        {
          key: OWN,
          label: own.tasks.own[0],
          chosen: task === OWN,
          act() {
            beginOwn(session);
            setWriting('upper');
          },
        },
      ]}
    />
  );
}

function PairMenu() {
  const session = useSession();
  const own = textsIn(session);
  const { task, pair } = session.state.value.trace;
  const pairs = pairsIn(session);
  if (task === OWN || pairs.length < 2) return null;
  const label = pair === ALL ? own.allPairs(pairs.length) : own.pair(pair + 1, pairs.length);
  return (
    <span class="group">
      <span class="label">{own.sentence}</span>
      <Menu
        label={label}
        name={`${own.sentence}: ${label}`}
        items={[
          ...pairs.map(({ upper, answers }, i) => ({
            key: String(i),
            label: own.pair(i + 1, pairs.length),
            about: (
              <span class="example" lang="en">
                {upper} <i>{answers[0]}</i>
              </span>
            ),
            chosen: pair === i,
            act: () => showPair(session, task, pairs, i),
          })),
          {
            key: 'all',
            label: own.allPairs(pairs.length),
            chosen: pair === ALL,
            act: () => showPair(session, task, pairs, ALL),
          },
        ]}
      />
    </span>
  );
}

function MeasureMenu({ trace, setWriting }: Pick<Shared, 'trace' | 'setWriting'>) {
  const session = useSession();
  const own = textsIn(session);
  const settings = session.state.value.trace;
  const [a, b] = trace?.answers ?? settings.answers ?? ['…', '…'];
  const label = own.by[settings.by](a, b);
  return (
    <span class="group">
      <span class="label">{own.measured}</span>
      <Menu
        label={label}
        name={`${own.measured} ${label}`}
        items={[
          ...MEASURES.map((by) => ({
            key: by,
            label: own.by[by](a, b),
            about: own.byAbout[by],
            chosen: settings.by === by,
            act: () => session.update({ trace: { ...settings, by } }),
          })),
          { key: 'words', label: own.ownWords, act: () => setWriting('words') },
          ...(settings.answers && settings.task === OWN
            ? [{ key: 'likeliest', label: own.likeliest, act: () => compareWords(session, null) }]
            : []),
        ]}
      />
    </span>
  );
}

/** A form for two words to compare. */
function WordsField({ trace, close }: { trace: Trace | null; close: () => void }) {
  const session = useSession();
  const own = textsIn(session);
  const [first, second] = [0, 1].map(() => useRef(null as HTMLInputElement | null));
  useEffect(() => first.current?.select(), []);
  const fields = [
    { ref: first, name: own.firstWord, word: trace?.answers[0] },
    { ref: second, name: own.secondWord, word: trace?.answers[1] },
  ];
  return (
    <form
      class="trace-words"
      onSubmit={(event) => {
        event.preventDefault();
        close();
        const [a, b] = fields.map(({ ref }) => ref.current?.value.trim() ?? '');
        compareWords(session, a && b ? [a, b] : null);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
      }}
    >
      {fields.map(({ ref, name, word }, i) => (
        <span key={name}>
          {i > 0 && '− '}
          <input ref={ref} aria-label={name} title={name} defaultValue={word} maxLength={40} autocomplete="off" />
        </span>
      ))}
      <button type="submit" class="word strong">
        {own.takeThis}
      </button>
    </form>
  );
}

function Progress({ trace }: { trace: Trace }) {
  const session = useSession();
  const own = textsIn(session);
  const running = session.tracing.value;
  const paused = session.tracePaused.value;
  const { done, total, left, columns, first, layers, cells } = trace;
  const isWhole = done >= total;
  const rows = Object.keys(cells).filter((part) => part !== 'head').length;
  const text = isWhole
    ? [own.places(rows * layers * (columns.length - first)), own.heads(layers * countIn(trace, 'head'))].join(', ')
    : own.done(done, total);
  return (
    <span class="trace-progress">
      <span class={isWhole ? 'whole' : 'strong'}>{text}</span>
      {!isWhole && running && !paused && left !== null && <span>{own.left(Math.max(Math.ceil(left), 1))}</span>}
      {!isWhole && (
        <button
          type="button"
          class="word strong"
          onClick={() => (running ? session.pauseTrace(!paused) : session.traceAgain())}
        >
          {running ? (paused ? own.goOn : own.stop) : own.again}
        </button>
      )}
      {!isWhole && <progress class="trace-bar progress-line" max={total} value={done} aria-label={text} />}
    </span>
  );
}
