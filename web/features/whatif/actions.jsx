// Actions on the current run: pin it, copy a link to it, export it.

import { useState } from 'preact/hooks';
import { runOf, UNCHANGED } from '../../store/runInput.js';
import { isOfHub } from '../../store/state.js';
import { useSession } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';
import { isEmbeddable, snippetOf } from '../export/embedSnippet.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Item } from '../../ui/menu.jsx' */

/** Scales of a saved PNG besides the default of 2. */
const PNG_SCALES = [1, 3, 4];

/** @param {{ small?: boolean }} props small: reset and link are in the menu */
export function Actions({ small = false }) {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const [copied, put] = useClipboard();
  // A link contains no files: to an opened model it works only while that model is open. A model of the Hub has its
  // name in the link.
  const here = !session.models.includes(state.model) && !isOfHub(state.model);
  const copy = () =>
    put(
      `${location.href.split('#')[0]}#${session.address()}`,
      here ? words.copiedHere : words.copied,
      here ? words.linkHere : words.notCopied,
    );
  const reset = { key: 'reset', label: words.reset, act: () => session.update(UNCHANGED) };
  const link = { key: 'link', label: words.link, act: copy };
  const embed = {
    key: 'embed',
    label: words.embed,
    about: words.embedAbout,
    act: () => put(snippetOf(state), words.copied, words.notPut),
  };
  // There is no link if the instrument is embedded, because the address belongs to the other page.
  const moved = session.embedded ? [reset] : [reset, link];
  return (
    <span class="actions">
      {session.about.value?.kind !== 'weights' && (
        <button
          type="button"
          class="word strong"
          title={words.pinAbout}
          aria-pressed={state.pinned !== null}
          onClick={() => session.update(state.pinned ? { pinned: null, patch: {} } : { pinned: runOf(state) })}
        >
          {state.pinned ? words.unpin : words.pin}
        </button>
      )}
      {!small && !session.embedded && (
        <button type="button" class="word strong" title={here ? words.linkHere : undefined} onClick={copy}>
          {copied ?? words.link}
        </button>
      )}
      <Menu
        up
        right
        className="strong"
        label={copied && small ? copied : words.export}
        name={words.export}
        items={[...(small ? moved : []), ...exportItems(session), ...(isEmbeddable(state) ? [embed] : [])]}
      />
    </span>
  );
}

/**
 * Copies texts. For two seconds after a copy, `copied` is the message about it.
 * @returns {[copied: string | null, put: (content: string, good: string, bad: string) => void]}
 */
function useClipboard() {
  const session = useSession();
  const [copied, setCopied] = useState(/** @type {string | null} */ (null));
  const put = async (/** @type {string} */ content, /** @type {string} */ good, /** @type {string} */ bad) => {
    const done = await navigator.clipboard?.writeText(content).then(
      () => true,
      () => false,
    );
    const text = done ? good : bad;
    setCopied(text);
    session.announce(text);
    setTimeout(() => setCopied(null), 2000);
  };
  return [copied, put];
}

/** The formats of an export; some have variants. @param {Session} session @returns {Item[]} */
function exportItems(session) {
  const words = session.words.value;
  /** @type {(kind: string, scale?: number, figures?: boolean) => () => void} */
  const saving = (kind, scale, figures) => () =>
    import('../export/savePicture.js').then(({ exportAs }) => exportAs(kind, session, scale, figures));
  const withFigures = (/** @type {string} */ label) => ({
    key: 'svg-figures',
    label: words.withFigures,
    name: `${label}, ${words.withFigures}`,
    act: saving('svg', undefined, true),
  });
  const scaled = PNG_SCALES.map((scale) => ({
    key: `png${scale}`,
    label: `${scale}×`,
    name: words.sharp(scale),
    act: saving('png', scale),
  }));
  return (
    Object.entries(words.exports)
      // Programs compute weights from queries and keys: they need more than weights.
      .filter(([kind]) => session.run.value?.values || !/^(mjs|py)$/.test(kind))
      .map(([kind, label]) => ({
        key: kind,
        label,
        act: saving(kind),
        ...(kind === 'svg' && { more: [withFigures(label)] }),
        ...(kind === 'png' && { more: scaled }),
      }))
  );
}
