// What opens under the word Open…: where files are chosen or pasted, and what was recognised in them.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { openText, withPath } from './droppedFiles.js';

export { default as styles } from './openPanel.css';

export function Choose() {
  const session = useSession();
  const words = session.words.value;
  const { opening } = session;
  const problem = opening.problem.value;
  const reading = opening.reading.value;
  const files = useRef(/** @type {any} */ (null));
  const folder = useRef(/** @type {any} */ (null));
  const [text, setText] = useState('');
  const take = (event) => {
    const list = [...event.currentTarget.files].map(withPath);
    // The same file may be chosen again.
    event.currentTarget.value = '';
    if (list.length > 0) opening.open(list);
  };
  useEffect(() => folder.current?.setAttribute('webkitdirectory', ''), [reading]);
  if (reading) {
    const share = reading.total > 0 ? Math.min(reading.read / reading.total, 1) : 0;
    return (
      <div class="list panel" role="dialog" aria-label={words.open.title}>
        <h2>{reading.title}</h2>
        <div
          class="gauge"
          role="progressbar"
          aria-label={words.open.reading}
          aria-valuenow={Math.round(100 * share)}
          aria-valuemin={0}
          aria-valuemax={100}
        >
          <span style={{ width: `${100 * share}%` }} />
        </div>
        <p role="status">{words.open.progress(words.bytes(reading.read), words.bytes(reading.total))}</p>
        <button type="button" class="word strong" onClick={opening.cancel}>
          {words.open.cancel}
        </button>
      </div>
    );
  }
  return (
    <div class="list panel" role="dialog" aria-label={words.open.title}>
      {problem ? (
        <div class="problem" role="alert">
          <p>{tell(words, problem)}</p>
          {problem.code === 'transposed' && (
            <button type="button" class="word strong" onClick={opening.transpose}>
              {words.open.transpose}
            </button>
          )}
        </div>
      ) : (
        <h2>{words.open.title}</h2>
      )}
      <p class="ways">
        <label class="word strong file">
          {words.open.files}
          <input type="file" multiple ref={files} onChange={take} data-name="files" />
        </label>
        <label class="word strong file">
          {words.open.folder}
          <input type="file" ref={folder} onChange={take} data-name="folder" />
        </label>
      </p>
      <p>{words.open.drop}</p>
      <dl>
        {words.open.kinds.map(([what, how]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{how}</dd>
          </div>
        ))}
      </dl>
      <textarea
        rows={2}
        aria-label={words.open.paste}
        placeholder={words.open.paste}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.stopPropagation()}
      />
      {text.trim() && (
        <button type="button" class="word strong" onClick={() => openText(session, text.trim())}>
          {words.open.show}
        </button>
      )}
    </div>
  );
}

/**
 * What is wrong, in words.
 * @param {any} words @param {{ code: string, values: any[], message?: string }} problem
 */
export function tell(words, { code, values, message = code }) {
  return words.problems[code]?.(...values) ?? words.failed(message);
}

/** What was recognised: a line where the note about the bars stands, until it is put away; the rest on demand. */
export function Told() {
  const session = useSession();
  const words = session.words.value;
  const { opening } = session;
  const found = opening.opened.value.find(({ about }) => about.name === session.state.value.model);
  if (!found) return null;
  const { about } = found;
  const [first, ...rest] = recognised(words, found);
  return (
    <div class="list panel told" role="group" aria-label={words.open.recognised}>
      <button type="button" class="word strong" onClick={() => opening.setPanel(null)}>
        {words.close}
      </button>
      <details>
        <summary>{first}</summary>
        <ul class="recognised">
          {rest.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
        <button type="button" class="word" onClick={() => opening.close(about.name)}>
          {words.open.forget}
        </button>
      </details>
    </div>
  );
}

/** Family, layers × heads, sizes, bytes, and what is missing: a line each. */
const recognised = (words, { about, summary }) =>
  summary.kind === 'weights'
    ? [
        words.open.isWeights[summary.sums],
        ...summary.parts.map((part) => words.open.weightsOf(part, summary.parts.length > 1)),
        ...summary.parts.filter(({ wholeT, T }) => wholeT > T).map(({ wholeT, T }) => words.open.cutTo(wholeT, T)),
        ...summary.parts.filter(({ batch }) => batch > 1).map(({ batch }) => words.open.batchOf(batch)),
        ...summary.parts.filter(({ nan }) => nan > 0).map(() => words.open.weightsNan),
        ...(summary.named ? [] : [words.open.noTokens]),
        ...(summary.unused.length > 0 ? [words.open.unused(summary.unused.join(', '))] : []),
        ...summary.problems.map((problem) => tell(words, problem)),
      ]
    : [
        words.open.isModel(about.family, about.layers, about.heads, about.width),
        words.open.size(summary.parameters, words.bytes(summary.bytes), summary.weights),
        words.open.does[about.guess ?? (summary.missing.includes('mask') ? 'unasked' : 'nothing')],
        ...summary.missing.filter((what) => words.open.missing[what]).map((what) => words.open.missing[what]),
        ...(summary.nan.length > 0 ? [words.open.modelNan(summary.nan.length, summary.nan[0])] : []),
      ];

export function Recognised({ found }) {
  const words = useSession().words.value;
  return (
    <ul class="recognised">
      {recognised(words, found).map((line, i) => (
        <li key={i}>{line}</li>
      ))}
    </ul>
  );
}
