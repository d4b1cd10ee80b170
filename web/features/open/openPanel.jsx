// The panel of the button Open…: inputs for files and pasted texts, and a summary of the opened files.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useSession } from '../../ui/context.js';
import { openText, withPath } from './droppedFiles.js';

/** @import { Strings } from '../../texts/languages.js' */
/** @typedef {{ code: string, values: any[], message?: string }} Problem */
/** @typedef {{ about: any, summary: any }} Opened an opened model: what it is, and a summary of its files */

export { default as styles } from './openPanel.css';

export function Choose() {
  const session = useSession();
  const words = session.words.value;
  const { opening } = session;
  const reading = opening.reading.value;
  // The pasted text is still there after it failed to open.
  const [text, setText] = useState('');
  if (reading) return <Reading reading={reading} />;
  const problem = opening.problem.value;
  return (
    <div class="list panel" role="dialog" aria-label={words.open.title}>
      {problem ? <ProblemText problem={problem} /> : <h2>{words.open.title}</h2>}
      <FileInputs />
      <p>{words.open.drop}</p>
      <dl>
        {words.open.kinds.map(([kind, files]) => (
          <div key={kind}>
            <dt>{kind}</dt>
            <dd>{files}</dd>
          </div>
        ))}
      </dl>
      <PasteField text={text} setText={setText} />
    </div>
  );
}

/** The progress of reading files. @param {{ reading: { title: string, read: number, total: number } }} props */
function Reading({ reading }) {
  const session = useSession();
  const words = session.words.value;
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
      <button type="button" class="word strong" onClick={session.opening.cancel}>
        {words.open.cancel}
      </button>
    </div>
  );
}

/** @param {{ problem: Problem }} props */
function ProblemText({ problem }) {
  const session = useSession();
  const words = session.words.value;
  return (
    <div class="problem" role="alert">
      <p>{problemText(words, problem)}</p>
      {problem.code === 'transposed' && (
        <button type="button" class="word strong" onClick={session.opening.transpose}>
          {words.open.transpose}
        </button>
      )}
    </div>
  );
}

function FileInputs() {
  const session = useSession();
  const words = session.words.value;
  const folder = useRef(/** @type {any} */ (null));
  // The types of JSX do not have this attribute.
  useEffect(() => folder.current?.setAttribute('webkitdirectory', ''), []);
  const open = (/** @type {{ currentTarget: HTMLInputElement }} */ { currentTarget: input }) => {
    const list = [...(input.files ?? [])].map(withPath);
    // Without it, choosing the same file again would raise no event.
    input.value = '';
    if (list.length > 0) session.opening.open(list);
  };
  return (
    <p class="ways">
      <label class="word strong file">
        {words.open.files}
        <input type="file" multiple onChange={open} data-name="files" />
      </label>
      <label class="word strong file">
        {words.open.folder}
        <input type="file" ref={folder} onChange={open} data-name="folder" />
      </label>
    </p>
  );
}

/** @param {{ text: string, setText: (text: string) => void }} props */
function PasteField({ text, setText }) {
  const session = useSession();
  const words = session.words.value;
  return (
    <>
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
    </>
  );
}

/** The text of a problem. @param {Strings} words @param {Problem} problem */
function problemText(words, { code, values, message = code }) {
  const texts = /** @type {Record<string, (...values: any[]) => string>} */ (words.problems);
  return texts[code]?.(...values) ?? words.failed(message);
}

/** The summary of the opened files: one line, with details on demand, until it is closed. */
export function Summary() {
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

/** The lines of the summary. @param {Strings} words @param {Opened} opened @returns {string[]} */
const recognised = (words, opened) =>
  opened.summary.kind === 'weights' ? recognisedWeights(words, opened) : recognisedModel(words, opened);

/** Sums, sizes, and what is missing. @param {Strings} words @param {Opened} opened */
function recognisedWeights({ open, ...words }, { summary }) {
  /** @type {any[]} */
  const parts = summary.parts;
  const sums = /** @type {'rows' | 'columns' | 'neither'} */ (summary.sums);
  return [
    open.isWeights[sums],
    ...parts.map((part) => open.weightsOf(part, parts.length > 1)),
    ...parts.filter(({ wholeT, T }) => wholeT > T).map(({ wholeT, T }) => open.cutTo(wholeT, T)),
    ...parts.filter(({ batch }) => batch > 1).map(({ batch }) => open.batchOf(batch)),
    ...parts.filter(({ nan }) => nan > 0).map(() => open.weightsNan),
    ...(summary.named ? [] : [open.noTokens]),
    ...(summary.unused.length > 0 ? [open.unused(summary.unused.join(', '))] : []),
    ...summary.problems.map((/** @type {Problem} */ problem) => problemText({ open, ...words }, problem)),
  ];
}

/** Family, layers × heads, sizes, bytes, and what is missing. @param {Strings} words @param {Opened} opened */
function recognisedModel({ open, bytes }, { about, summary }) {
  const missing = /** @type {Record<string, string>} */ (open.missing);
  const guess = /** @type {keyof typeof open.does} */ (
    about.guess ?? (summary.missing.includes('mask') ? 'unasked' : 'nothing')
  );
  return [
    open.isModel(about.family, about.layers, about.heads, about.width),
    open.size(summary.parameters, bytes(summary.bytes), summary.weights),
    open.does[guess],
    ...summary.missing.flatMap((/** @type {string} */ name) => missing[name] ?? []),
    ...(summary.nan.length > 0 ? [open.modelNan(summary.nan.length, summary.nan[0])] : []),
  ];
}

/** @param {{ found: Opened }} props */
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
