// The view before there are two sentences: a list of questions, from which the visitor chooses one.

import { OWN, TASKS } from '../../model/trace/settings.ts';
import type { TaskName } from '../../model/trace/tasks.ts';
import { useSession } from '../../store/context.ts';
import { Example } from './example.tsx';
import { beginOwn, showPair, textsIn } from './traceState.ts';

/** `wide`: true if an example fits next to the list. */
export function Begin({ setWriting, wide }: { setWriting: (what: 'upper') => void; wide: boolean }) {
  const session = useSession();
  const own = textsIn(session);
  const tasks = session.traceTasks.value?.tasks ?? [];
  const pairsOf = (name: TaskName) => tasks.find((task) => task.name === name)?.pairs ?? [];
  // Tasks that fit the model come first.
  const inOrder = [...TASKS].sort((a, b) => Number(pairsOf(b).length > 0) - Number(pairsOf(a).length > 0));
  const [first] = inOrder;
  const [pair] = pairsOf(first);
  return (
    <div class={`trace-begin ${wide && pair ? 'with-example' : ''}`}>
      <div>
        <h2>{own.begin}</h2>
        {own.beginAbout.map((line) => (
          <p key={line}>{line}</p>
        ))}
        <ul>
          {inOrder.map((name) => {
            const pairs = pairsOf(name);
            return (
              <li key={name}>
                <button
                  type="button"
                  disabled={pairs.length === 0}
                  onClick={() => showPair(session, name, pairs, 0)}
                  data-task={name}
                >
                  <Question name={name} pairs={pairs.length} known={tasks.length > 0} />
                </button>
              </li>
            );
          })}
          <li>
            <button
              type="button"
              data-task={OWN}
              onClick={() => {
                beginOwn(session);
                setWriting('upper');
              }}
            >
              <span class="question">{own.tasks.own[0]}</span>
            </button>
          </li>
        </ul>
      </div>
      {wide && pair && <Example pair={pair} measure={() => showPair(session, first, pairsOf(first), 0)} />}
    </div>
  );
}

/** Shows the question of a task with an example, or the reason why the task does not fit the model. */
export function Question({ name, pairs, known = true }: { name: TaskName; pairs: number; known?: boolean }) {
  const own = textsIn(useSession());
  const [question, kind, example, answer] = own.tasks[name];
  return (
    <>
      <span class="question">{question}</span>{' '}
      <span class="kind">
        {kind}
        {pairs > 0 && `, ${own.pairs(pairs)}`}
      </span>
      <span class="example">
        {pairs > 0 || !known ? (
          <>
            {example} <i>{answer}</i>
          </>
        ) : (
          own.needs[name]
        )}
      </span>
    </>
  );
}
