// The panel for the visitor's own texts: files, folders or a pasted text. Before anything is scanned it shows the first
// lines, the column that is read, and the passages that cannot be read.

import { useState } from 'preact/hooks';
import {
  formatOf,
  formatOfPasted,
  joinCorpora,
  MAX_ROWS,
  type ProblemCode,
  type ReadTexts,
  readCorpus,
} from '../../model/corpus/readCorpus.ts';
import { useSession } from '../../store/context.ts';
import { LENGTH } from '../../store/measured/atlas.ts';
import { timeText } from './numbers.ts';
import { useAtlasTexts } from './texts.ts';

/** A file or a pasted text. format: null if it is not read, for the reason `code`; rows: of a Parquet file. */
export type Source = {
  name: string;
  text: string;
  format: Parameters<typeof readCorpus>[1] | null;
  code?: ProblemCode;
  rows?: number;
};

/** Maximum number of lines of the texts that are shown, and of problems that are listed. */
const [LINES, PROBLEMS] = [5, 100];
/** Maximum number of passages that are scanned. From a larger corpus, passages at equal distances are scanned. */
const MAX_PASSAGES = 2000;

/** Lengths of a passage that the visitor can choose, in tokens. */
const LENGTHS = [64, LENGTH, 256, 512];

const readAll = (sources: readonly Source[], options: { length: number; column: string | null }): ReadTexts =>
  joinCorpora(
    sources.map(({ name, text, format, code }) => ({ name, code, texts: format && readCorpus(text, format, options) })),
  );

/** Reads a chosen file. A Parquet file is converted to JSON lines. */
async function readSource(file: File): Promise<Source> {
  const name = file.webkitRelativePath || file.name;
  const format = formatOf(file.name);
  if (format === null) return { name, text: '', format };
  if (format !== 'parquet') return { name, text: await file.text(), format };
  try {
    const { readParquet } = await import('./readParquet.ts');
    return { name, ...(await readParquet(file)), format: 'jsonl' };
  } catch (error) {
    const code = /codec/.test((error as Error).message) ? 'compression' : 'damaged';
    return { name, text: '', format: null, code };
  }
}

export function OwnTexts({ onClose }: { onClose: () => void }) {
  const session = useSession();
  const texts = useAtlasTexts();
  const [sources, setSources] = useState([] as Source[]);
  const [column, setColumn] = useState(null as string | null);
  const [length, setLength] = useState(LENGTH);
  const found = sources.length > 0 ? readAll(sources, { length, column }) : null;
  const unread = sources.reduce((sum, { rows = 0 }) => sum + Math.max(rows - MAX_ROWS, 0), 0);
  const add = async (files: FileList | null) => {
    const all = [...(files ?? [])];
    setColumn(null);
    setSources(await Promise.all(all.map(readSource)));
  };
  const paste = (text: string) => {
    setColumn(null);
    setSources(text.trim() === '' ? [] : [{ name: '', text, format: formatOfPasted(text) }]);
  };
  const begin = () => {
    if (!found) return;
    const title = sources.length === 1 && sources[0].name ? sources[0].name : texts.texts.pasted;
    session.atlas.scan({ title, texts: limited(found.passages) }, { length });
    onClose();
  };
  return (
    <section class="own-texts" aria-label={texts.texts.title} onKeyDown={(event) => closeByKey(event, onClose)}>
      <p>
        <label class="file word">
          {texts.texts.choose}
          <input type="file" multiple onChange={(event) => add(event.currentTarget.files)} />
        </label>{' '}
        <label class="file word">
          {texts.texts.folder}
          <input
            type="file"
            multiple
            {...{ webkitdirectory: true }}
            onChange={(event) => add(event.currentTarget.files)}
          />
        </label>
        <span class="quiet-text"> {texts.texts.formats}</span>
      </p>
      <textarea
        rows={3}
        aria-label={texts.texts.paste}
        placeholder={texts.texts.paste}
        spellcheck={false}
        onInput={(event) => paste(event.currentTarget.value)}
      />
      {found && <Found {...{ found, setColumn, length, setLength }} />}
      {unread > 0 && <p role="status">{texts.texts.firstRows(MAX_ROWS, unread)}</p>}
      <p>
        {found && found.passages.length > 0 && (
          <button type="button" class="word strong scan" onClick={begin}>
            {texts.texts.begin}
          </button>
        )}{' '}
        <button type="button" class="word" onClick={onClose}>
          {texts.close}
        </button>{' '}
        <span class="quiet-text">{texts.texts.local}</span>
      </p>
    </section>
  );
}

function closeByKey(event: KeyboardEvent, onClose: () => void) {
  if (event.key !== 'Escape') return;
  event.stopPropagation();
  onClose();
}

const limited = (passages: string[]) =>
  passages.length <= MAX_PASSAGES
    ? passages
    : Array.from({ length: MAX_PASSAGES }, (_, i) => passages[Math.floor((i * passages.length) / MAX_PASSAGES)]);

/** Shows the texts that were read: their column, the first lines, the duration of a scan, and problems. */
function Found({
  found,
  setColumn,
  length,
  setLength,
}: {
  found: ReadTexts;
  setColumn: (column: string) => void;
  /** of a passage, in tokens */
  length: number;
  setLength: (length: number) => void;
}) {
  const session = useSession();
  const texts = useAtlasTexts();
  const { passages, columns, column, problems, whole } = found;
  const estimate = session.atlas.estimate.value;
  const count = Math.min(passages.length, MAX_PASSAGES);
  const time = estimate ? timeText(texts, (estimate.milliseconds * count * length) / LENGTH) : '';
  const context = session.about.value?.context ?? LENGTH;
  if (passages.length === 0 && problems.length === 0) return <p role="status">{texts.texts.nothing}</p>;
  return (
    <>
      <Choice name={texts.texts.column} options={columns} chosen={column} choose={setColumn} />
      <ol class="first-lines serif">
        {passages.slice(0, LINES).map((passage, i) => (
          <li key={i}>{passage}</li>
        ))}
      </ol>
      <Choice
        name={texts.texts.length}
        options={LENGTHS.filter((tokens) => tokens <= Math.max(context, LENGTH))}
        chosen={length}
        choose={setLength}
      />
      <p role="status">
        {passages.length > 0 ? texts.texts.summary(count, Math.min(length, context), time) : texts.texts.nothing}{' '}
        {passages.length > MAX_PASSAGES && texts.texts.limited(MAX_PASSAGES, passages.length)}
      </p>
      <Problems {...{ problems, whole }} />
    </>
  );
}

/** A line of options from which one is chosen. */
function Choice<T extends string | number>({
  name,
  options,
  chosen,
  choose,
}: {
  name: string;
  options: readonly T[];
  chosen: T | null;
  choose: (option: T) => void;
}) {
  if (options.length === 0) return null;
  return (
    <p role="group" aria-label={name}>
      {name}{' '}
      {options.map((option) => (
        <button key={option} type="button" class="word" aria-pressed={option === chosen} onClick={() => choose(option)}>
          {option}
        </button>
      ))}
    </p>
  );
}

function Problems({ problems, whole }: Pick<ReadTexts, 'problems' | 'whole'>) {
  const { texts } = useAtlasTexts();
  if (problems.length === 0) return null;
  return (
    <details>
      <summary>{texts.problems(whole - problems.length, whole)}</summary>
      <ul>
        {problems.slice(0, PROBLEMS).map(({ code, place, file }) => (
          <li key={`${file} ${place} ${code}`}>
            {[file, place > 0 && texts.line(place)].filter(Boolean).join(', ')}: {texts.codes[code]}
          </li>
        ))}
      </ul>
    </details>
  );
}
