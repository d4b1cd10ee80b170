// Models of the Hugging Face Hub in the panel that opens models: a box for a name or a link, the stored and the
// recommended models, and a question before a large download.

import { useEffect, useRef } from 'preact/hooks';
import { fitOf, neededBy } from '../../model/hubMemory.ts';
import type { HubModel, StoredHubModel } from '../../model/protocol/hubProtocol.ts';
import type { ProblemValue } from '../../model/protocol/protocol.ts';
import { useSession } from '../../store/context.ts';
import { type Hub, Hub as HubStore, memoryOfMachine } from '../../store/opening/hub.ts';
import { texts as inEnglish } from './hub.en.ts';
import { texts as inChinese } from './hub.zh.ts';
import { matching, RECOMMENDED, type Recommended } from './recommended.ts';

/** Problems that an access token may solve. */
const NEED_TOKEN = ['hub_gated', 'hub_notFound', 'hub_token', 'hub_rateLimit'];
const TEMPORARY = ['hub_network', 'hub_offline', 'hub_server', 'hub_changed', 'hub_rateLimit'];
const TOKENS_PAGE = 'https://huggingface.co/settings/tokens';

export const useTexts = () => (useSession().language.value === 'zh' ? inChinese : inEnglish);

/** Returns the models of the Hub. The first panel that shows them creates the store. */
export function useHub(): Hub | null {
  const { opening } = useSession();
  useEffect(() => {
    opening.startHub(HubStore);
    // A page in another tab may have stored or deleted models.
    opening.hub.peek()?.list();
  }, []);
  return opening.hub.value;
}

/** Returns the text of a problem of the Hub; undefined for any other problem. */
export function useHubProblem(code: string, values: ProblemValue[]) {
  const problems = useTexts().problems as Record<string, (...values: ProblemValue[]) => string>;
  return problems[code]?.(...values);
}

export function HubChoice({ hub }: { hub: Hub }) {
  const session = useSession();
  const texts = useTexts();
  const [list, box] = [useRef(null as HTMLDivElement | null), useRef(null as HTMLInputElement | null)];
  // On a touch screen the box takes no focus, because the keyboard would cover the list.
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches) box.current?.focus();
  }, []);
  const typed = hub.typed.value;
  const stored = hub.stored.value ?? [];
  const isStored = ({ id }: { id: string }) => stored.some((model) => model.id === id);
  const others = RECOMMENDED.filter((model) => !isStored(model));
  const submit = (event: Event) => {
    event.preventDefault();
    if (typed.trim()) hub.describe(typed.trim());
  };
  const code = session.opening.problem.value?.code ?? '';
  return (
    <div class="hub" onKeyDown={(event) => walk(event, list.current)}>
      <form onSubmit={submit}>
        <input
          ref={box}
          type="text"
          data-name="hub"
          aria-label={texts.field}
          placeholder={texts.placeholder}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          maxLength={400}
          value={typed}
          onInput={(event) => hub.type(event.currentTarget.value)}
        />
        <button type="submit" class="word strong" disabled={!typed.trim()}>
          {texts.open}
        </button>
      </form>
      {NEED_TOKEN.includes(code) && <Token hub={hub} />}
      {TEMPORARY.includes(code) && <Again hub={hub} />}
      <p class="status" role="status">
        {hub.describing.value !== null && texts.describing(hub.describing.value)}
        {hub.waiting.value && ` ${texts.waiting}`}
      </p>
      <div ref={list}>
        <StoredList hub={hub} models={matching(stored, typed)} />
        <RecommendedList hub={hub} models={matching(others, typed)} />
      </div>
      <p class="privacy">{texts.about}</p>
    </div>
  );
}

/** Moves between the box and the models with the arrow keys. Letters are typed into the box. */
function walk(event: KeyboardEvent, list: HTMLElement | null) {
  // The keyboard shortcuts of the picture must have no effect here.
  if (event.key !== 'Escape') event.stopPropagation();
  const step = ({ ArrowDown: 1, ArrowUp: -1 } as Record<string, number>)[event.key];
  if (!step || !list) return;
  event.preventDefault();
  const box = list.parentElement?.querySelector('input');
  const all = [box, ...(list.querySelectorAll('button.offer') as NodeListOf<HTMLElement>)];
  const at = all.indexOf(event.target as HTMLElement);
  all[(at + step + all.length) % all.length]?.focus();
}

function StoredList({ hub, models }: { hub: Hub; models: StoredHubModel[] }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts();
  if (models.length === 0) return null;
  const remove = (id: string) => {
    hub.remove(id);
    session.announce(texts.removed(id));
  };
  return (
    <section>
      <p class="heading">{texts.storedList}</p>
      <ul aria-label={texts.storedList}>
        {models.map(({ id, revision, size }) => (
          <li key={id + revision} class="stored">
            <button type="button" class="offer" onClick={() => hub.describe(`${id}@${revision}`, viewOf(id))}>
              <span class="name">{id}</span>
              <span class="bytes">{words.bytes(size)}</span>
            </button>
            <button type="button" class="word" aria-label={texts.remove(id)} onClick={() => remove(id)}>
              {texts.removeShort}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns the view with which a recommended model is first shown, such as one of its heads. */
const viewOf = (id: string) => RECOMMENDED.find((model) => model.id === id)?.view;

function RecommendedList({ hub, models }: { hub: Hub; models: Recommended[] }) {
  const words = useSession().words.value;
  const texts = useTexts();
  if (models.length === 0) return null;
  return (
    <section>
      <p class="heading">{texts.recommended}</p>
      <ul aria-label={texts.recommended}>
        {models.map(({ id, key, bytes, view }) => (
          <li key={id}>
            <button type="button" class="offer" onClick={() => hub.describe(id, view)}>
              <span class="name">{id}</span>
              <span class="bytes">{words.bytes(bytes).replace(/\.0(?= )/, '')}</span>
              <span class="see">{texts.see[key]}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A field for an access token, with a link to the page that issues one. */
function Token({ hub }: { hub: Hub }) {
  const texts = useTexts();
  const problem = useSession().opening.problem.value;
  const page = problem?.code === 'hub_gated' ? String(problem.values[0]) : '';
  const submit = (event: Event) => {
    event.preventDefault();
    hub.again();
  };
  return (
    <form class="token" onSubmit={submit}>
      <input
        type="password"
        data-name="token"
        aria-label={texts.token}
        placeholder={texts.token}
        autocomplete="off"
        spellcheck={false}
        value={hub.token.value}
        onInput={(event) => hub.setToken(event.currentTarget.value)}
      />
      <button type="submit" class="word strong" disabled={hub.token.value === ''}>
        {texts.again}
      </button>
      <p class="ways">
        {page && (
          <a class="word" href={page} target="_blank" rel="noreferrer">
            {texts.itsPage}
          </a>
        )}
        <a class="word" href={TOKENS_PAGE} target="_blank" rel="noreferrer">
          {texts.tokenMake}
        </a>
      </p>
      <p>{texts.tokenAbout}</p>
    </form>
  );
}

function Again({ hub }: { hub: Hub }) {
  const texts = useTexts();
  if (hub.token.value !== '') return null;
  return (
    <button type="button" class="word strong" onClick={hub.again}>
      {texts.again}
    </button>
  );
}

/** The question before a large download: kind of the model, its size, and the form of its weights in memory. */
export function HubQuestion({ hub, model }: { hub: Hub; model: HubModel }) {
  const session = useSession();
  const words = session.words.value;
  const texts = useTexts();
  const title = useRef(null as HTMLHeadingElement | null);
  useEffect(() => title.current?.focus(), []);
  const { name, family, layers, heads, parameters, size, download, stores } = model;
  const [left, all] = [words.bytes(download), words.bytes(size)];
  const fromDisk = location.protocol === 'file:';
  const submit = (event: Event) => {
    event.preventDefault();
    hub.open();
  };
  return (
    <form class="hub question" onSubmit={submit}>
      <h2 ref={title} tabIndex={-1}>
        {name.split('@')[0]}
      </h2>
      {hub.link && <p>{texts.link(words.headInText(hub.link.layer, hub.link.head))}</p>}
      <p>{texts.isModel(family, layers, heads, parameters)}</p>
      <p>{download > 0 ? texts.download(left, all) : texts.downloaded(all)}</p>
      <Forms hub={hub} model={model} />
      {!stores && <p>{fromDisk ? texts.fromDisk : texts.notStored}</p>}
      <p class="ways">
        <button type="submit" class="word strong" disabled={hub.form.value === null}>
          {download > 0 ? texts.downloadNow(left) : texts.openNow}
        </button>
        <button type="button" class="word" onClick={hub.back}>
          {texts.back}
        </button>
      </p>
    </form>
  );
}

/** The forms that the weights can have, with the memory that each needs. */
function Forms({ hub, model: { forms, room } }: { hub: Hub; model: HubModel }) {
  const words = useSession().words.value;
  const texts = useTexts();
  const machine = memoryOfMachine();
  const least = forms.reduce((a, b) => (b.bytes < a.bytes ? b : a));
  return (
    <fieldset>
      <legend>{texts.weights}</legend>
      {forms.map((one) => {
        const { weights, inBlocks } = one;
        const fit = fitOf(one, room, machine);
        return (
          <label key={weights} class={fit === 'no' ? 'no' : ''}>
            <input
              type="radio"
              name="form"
              value={weights}
              checked={hub.form.value === weights}
              disabled={fit === 'no'}
              onChange={() => hub.setForm(weights)}
            />
            <span>{texts.forms[inBlocks ? 'blocks' : weights]}</span>
            <b>{words.bytes(neededBy(one))}</b>
            <span class="about">
              {[texts.formsAbout[inBlocks ? 'blocks' : weights], texts.fit[fit]].filter(Boolean).join('; ')}
            </span>
          </label>
        );
      })}
      <p>
        {hub.form.value === null
          ? texts.noneFits(words.bytes(neededBy(least)), words.bytes(room))
          : texts.room(words.bytes(room), machine === null ? null : Math.round(machine / 2 ** 30))}
      </p>
    </fieldset>
  );
}
