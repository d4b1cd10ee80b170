// Models to put in: chosen, dropped or pasted; what was recognised in them, or what is wrong and what to do.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useClosing, useSession } from './context.js';

const withPath = (file) => ({ path: file.webkitRelativePath || file.name, file });

/** All files of a dropped folder. */
async function filesIn(entry, path = '') {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ path: path + file.name, file }];
  }
  const reader = entry.createReader();
  const all = [];
  for (;;) {
    // A reader hands out some entries at a time.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) break;
    for (const one of some) all.push(...(await filesIn(one, `${path}${entry.name}/`)));
    if (all.length > 1000) break;
  }
  return all;
}

/** A list of texts names tokens; everything else is a file like any other. */
function openText(session, text) {
  let json = null;
  try {
    json = JSON.parse(text);
  } catch {
    // It is said when the file is read.
  }
  const texts = Array.isArray(json) && json.length > 0 && json.every((x) => typeof x === 'string');
  if (texts && session.about.value?.kind === 'weights') {
    session.opening.panel.value = null;
    return session.opening.name(json);
  }
  const words = session.words.value;
  session.opening.open([{ path: 'pasted.json', file: new File([text], 'pasted.json') }], words.open.pasted);
}

/** Files may be dropped anywhere, and pasted where one does not write. */
export function useDrop(host) {
  const session = useSession();
  const [over, setOver] = useState(false);
  useEffect(() => {
    const carries = (event) => event.dataTransfer?.types.includes('Files');
    const dragOver = (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event) => !event.relatedTarget && setOver(false);
    const drop = async (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      setOver(false);
      const items = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.());
      const plain = [...event.dataTransfer.files].map(withPath);
      const folders = items.some((entry) => entry?.isDirectory);
      try {
        const all = folders ? (await Promise.all(items.filter(Boolean).map((entry) => filesIn(entry)))).flat() : plain;
        session.opening.open(all);
      } catch (error) {
        session.opening.failed({ message: String(error) });
      }
    };
    const paste = (event) => {
      const target = event.composedPath()[0];
      const writes = /^(TEXTAREA|INPUT)$/.test(target.tagName ?? '');
      const { clipboardData: given } = event;
      if (!given) return;
      if (given.files.length > 0) {
        event.preventDefault();
        return session.opening.open([...given.files].map(withPath));
      }
      const text = given.getData('text').trim();
      if (writes || !/^[[{]/.test(text)) return;
      event.preventDefault();
      openText(session, text);
    };
    const leaving = (event) => {
      if (session.opening.opened.value.length === 0) return;
      event.preventDefault();
      event.returnValue = '';
    };
    window.addEventListener('dragover', dragOver);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    window.addEventListener('paste', paste);
    window.addEventListener('beforeunload', leaving);
    return () => {
      window.removeEventListener('dragover', dragOver);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
      window.removeEventListener('paste', paste);
      window.removeEventListener('beforeunload', leaving);
    };
  }, [host]);
  return over;
}

/** The word in the header, and what opens under it. */
export function Open() {
  const session = useSession();
  const words = session.words.value.open;
  const { opening } = session;
  const shown = opening.panel.value;
  const ref = useClosing(shown === 'choose' && !opening.reading.value, (focus) => {
    opening.panel.value = null;
    if (focus) ref.current.querySelector('button').focus();
  });
  return (
    <span class="menu open" ref={ref}>
      <button
        type="button"
        class="word"
        aria-expanded={shown !== null}
        onClick={() => (opening.panel.value = shown ? null : 'choose')}
      >
        {words.open}
      </button>
      {shown === 'choose' && <Choose />}
      {shown === 'told' && <Told />}
    </span>
  );
}

function Choose() {
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
          {problem.code === 'unknownLayers' && (
            <p>
              <a href="layers.html">{words.layers}</a>
            </p>
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

/** What was recognised: quiet, beside the header, until it is put away. */
function Told() {
  const session = useSession();
  const words = session.words.value;
  const { opening } = session;
  const found = opening.opened.value.find(({ about }) => about.name === session.state.value.model);
  if (!found) return null;
  const { about } = found;
  return (
    <div class="list panel told" role="dialog" aria-label={words.open.recognised}>
      <h2>{about.title}</h2>
      <Recognised found={found} />
      <p class="ways">
        <button type="button" class="word strong" onClick={() => (opening.panel.value = null)}>
          {words.close}
        </button>
        <button type="button" class="word" onClick={() => opening.close(about.name)}>
          {words.open.forget}
        </button>
      </p>
    </div>
  );
}

/** Family, layers × heads, sizes, bytes, and what is missing. */
export function Recognised({ found: { about, told } }) {
  const words = useSession().words.value;
  const lines =
    told.kind === 'weights'
      ? [
          words.open.isWeights,
          ...told.parts.map((part) => words.open.weightsOf(part, told.parts.length > 1)),
          ...told.parts.filter(({ wholeT, T }) => wholeT > T).map(({ wholeT, T }) => words.open.cutTo(wholeT, T)),
          ...told.parts.filter(({ nan }) => nan > 0).map(() => words.open.weightsNan),
          ...(told.named ? [] : [words.open.noTokens]),
          ...(told.unused.length > 0 ? [words.open.unused(told.unused.join(', '))] : []),
          ...told.problems.map((problem) => tell(words, problem)),
        ]
      : [
          words.open.isModel(about.family, about.layers, about.heads, about.width),
          words.open.size(told.parameters, words.bytes(told.bytes), told.weights),
          words.open.does[about.guess ?? 'nothing'],
          ...told.missing.map((what) => words.open.missing[what]),
          ...(told.nan.length > 0 ? [words.open.modelNan(told.nan.length, told.nan[0])] : []),
        ];
  return (
    <ul class="recognised">
      {lines.map((line, i) => (
        <li key={i}>{line}</li>
      ))}
    </ul>
  );
}
