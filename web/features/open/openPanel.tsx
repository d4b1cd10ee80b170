// The panel of the button Open…, with inputs for files and pasted texts, and with a summary of the opened files.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { AttentionSizes, ProblemValue } from '../../model/protocol/protocol.ts';
import { useSession } from '../../store/context.ts';
import type { Reading } from '../../store/opening/fileReading.ts';
import type { Strings } from '../../texts/languages.ts';
import { HubChoice, HubQuestion, hubStyles, useHub, useHubProblem, useTexts as useHubTexts } from '../hub/feature.ts';
import { openText, withPath } from './droppedFiles.ts';
import ownStyles from './openPanel.css';
import { texts as inEnglish } from './openPanel.en.ts';
import { texts as inChinese } from './openPanel.zh.ts';
import { canCompare, Rounding } from './rounding.tsx';
import { useSpeed } from './useSpeed.ts';
export type Texts = typeof inEnglish;
export type Problem = { code: string; values: ProblemValue[]; message?: string };
/** An opened model: its About, and a Summary, whose kind decides which fields the functions below read. */
export type Opened = { about: any; summary: any };

export const styles = ownStyles + hubStyles;

const useTexts = () => (useSession().language.value === 'zh' ? inChinese : inEnglish);

export function Choose() {
  const session = useSession();
  const words = session.words.value;
  const { opening } = session;
  const reading = opening.reading.value;
  // The pasted text is stored here, so that it is still there after it failed to open.
  const [text, setText] = useState('');
  const texts = useTexts();
  const hubTexts = useHubTexts();
  const hub = useHub();
  if (reading) return <FileReading reading={reading} />;
  const problem = opening.problem.value;
  const asked = hub?.model.value;
  return (
    <div class="list panel" role="dialog" aria-label={words.open.title}>
      {problem && <ProblemText problem={problem} />}
      {hub && asked ? (
        <HubQuestion hub={hub} model={asked} />
      ) : (
        <>
          {!problem && <h2>{hubTexts.title}</h2>}
          {hub && <HubChoice hub={hub} />}
          <h2>{hubTexts.local}</h2>
          <Local text={text} setText={setText} texts={texts} />
        </>
      )}
    </div>
  );
}

function Local({ texts, text, setText }: { texts: Texts; text: string; setText: (text: string) => void }) {
  return (
    <>
      <FileInputs />
      <p>{texts.drop}</p>
      <details>
        <summary>{texts.which}</summary>
        <dl>
          {texts.kinds.map(([kind, files]) => (
            <div key={kind}>
              <dt>{kind}</dt>
              <dd>{files}</dd>
            </div>
          ))}
        </dl>
      </details>
      <PasteField text={text} setText={setText} />
    </>
  );
}

function FileReading({ reading }: { reading: Reading }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts();
  const hubTexts = useHubTexts();
  const { perSecond, secondsLeft } = useSpeed(reading);
  const cancel = () => {
    session.opening.cancel();
    session.opening.hub.peek()?.cancelled();
  };
  const share = reading.total > 0 ? Math.min(reading.read / reading.total, 1) : 0;
  return (
    <div class="list panel" role="dialog" aria-label={words.open.title}>
      <h2>{reading.title}</h2>
      <div
        class="gauge"
        role="progressbar"
        aria-label={texts.reading}
        aria-valuenow={Math.round(100 * share)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span style={{ width: `${100 * share}%` }} />
      </div>
      <p class="progress-text">
        <span>{texts.progress(words.bytes(reading.read), words.bytes(reading.total))}</span>
        {perSecond > 0 && <span>{hubTexts.speed(words.bytes(perSecond))}</span>}
        {secondsLeft !== null && <span>{hubTexts.left(secondsLeft)}</span>}
      </p>
      {session.opening.hub.value?.waiting.value && <p role="status">{hubTexts.waiting}</p>}
      {reading.resumes && <p>{hubTexts.resumes}</p>}
      <button type="button" class="word strong" onClick={cancel}>
        {words.open.cancel}
      </button>
    </div>
  );
}

function ProblemText({ problem }: { problem: Problem }) {
  const session = useSession();
  const words = session.words.value;
  const ofHub = useHubProblem(problem.code, problem.values);
  return (
    <div class="problem" role="alert">
      <p>{ofHub ?? problemText(words, problem)}</p>
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
  const texts = useTexts();
  const folder = useRef(null as HTMLInputElement | null);
  // The types of JSX do not have this attribute, so it is set here.
  useEffect(() => folder.current?.setAttribute('webkitdirectory', ''), []);
  const open = ({ currentTarget: input }: { currentTarget: HTMLInputElement }) => {
    const list = [...(input.files ?? [])].map(withPath);
    // If the input keeps its value, choosing the same file again raises no event.
    input.value = '';
    if (list.length > 0) session.opening.open(list);
  };
  return (
    <p class="ways">
      <label class="word strong file">
        {texts.files}
        <input type="file" multiple onChange={open} data-name="files" />
      </label>
      <label class="word strong file">
        {texts.folder}
        <input type="file" ref={folder} onChange={open} data-name="folder" />
      </label>
    </p>
  );
}

function PasteField({ text, setText }: { text: string; setText: (text: string) => void }) {
  const session = useSession();
  const texts = useTexts();
  return (
    <>
      <textarea
        rows={2}
        aria-label={texts.paste}
        placeholder={texts.paste}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.stopPropagation()}
      />
      {text.trim() && (
        <button type="button" class="word strong" onClick={() => openText(session, text.trim())}>
          {texts.show}
        </button>
      )}
    </>
  );
}

function problemText(words: Strings, { code, values, message = code }: Problem) {
  const texts = words.problems as Record<string, (...values: ProblemValue[]) => string>;
  return texts[code]?.(...values) ?? words.failed(message);
}

/** The summary of the opened files. It is one line, with details on demand, until the visitor closes it. */
export function Summary() {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts();
  const { opening } = session;
  const found = opening.opened.value.find(({ about }) => about.name === session.state.value.model);
  if (!found) return null;
  const { about } = found;
  const [first, ...rest] = recognised(words, texts, found);
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
        {canCompare(found as Opened) && <Rounding />}
        <button type="button" class="word" onClick={() => opening.close(about.name)}>
          {words.open.forget}
        </button>
      </details>
    </div>
  );
}

const recognised = (words: Strings, texts: Texts, opened: Opened): string[] =>
  opened.summary.kind === 'weights' ? recognisedWeights(words, texts, opened) : recognisedModel(words, texts, opened);

/** Returns the sums of rows, the sizes, and the parts that are missing. */
function recognisedWeights(words: Strings, texts: Texts, { summary }: Opened) {
  const parts: AttentionSizes[] = summary.parts;
  const sums = summary.sums as 'rows' | 'columns' | 'neither';
  return [
    texts.isWeights[sums],
    ...parts.map((part) => texts.weightsOf(part, parts.length > 1)),
    ...parts.filter(({ wholeT, T }) => wholeT > T).map(({ wholeT, T }) => texts.cutTo(wholeT, T)),
    ...parts.filter(({ batch }) => batch > 1).map(({ batch }) => texts.batchOf(batch)),
    ...parts.filter(({ nan }) => nan > 0).map(() => texts.weightsNan),
    ...(summary.named ? [] : [words.open.noTokens]),
    ...(summary.unused.length > 0 ? [texts.unused(summary.unused.join(', '))] : []),
    ...summary.problems.map((problem: Problem) => problemText(words, problem)),
  ];
}

/** Bytes of a parameter in memory. With int8, the scales of the rows are included. */
const BYTES = { float32: 4, int8: 1.16 };
const memoryOf = (parameters: number, weights: keyof typeof BYTES) => parameters * (BYTES[weights] ?? BYTES.float32);

/** Returns the family, layers × heads, the sizes, the bytes, and the parts that are missing. */
function recognisedModel({ bytes }: Strings, texts: Texts, { about, summary }: Opened) {
  const missing = texts.missing as Record<string, string>;
  const guess = (
    about.reads === 'sound' && about.guess !== 'next'
      ? (about.hears ?? 'nothing')
      : (about.guess ?? (summary.missing.includes('mask') ? 'unasked' : 'nothing'))
  ) as keyof Texts['does'];
  return [
    texts.isModel(about.family, about.layers, about.heads, about.width),
    texts.size(
      summary.parameters,
      bytes(summary.bytes),
      summary.weights,
      bytes(memoryOf(summary.parameters, summary.weights)),
    ),
    texts.does[guess],
    ...summary.missing.flatMap((name: string) => missing[name] ?? []),
    ...(summary.nan.length > 0 ? [texts.modelNan(summary.nan.length, summary.nan[0])] : []),
  ];
}

export function Recognised({ found }: { found: Opened }) {
  const words = useSession().words.value;
  const texts = useTexts();
  return (
    <ul class="recognised">
      {recognised(words, texts, found).map((line, i) => (
        <li key={i}>{line}</li>
      ))}
    </ul>
  );
}
