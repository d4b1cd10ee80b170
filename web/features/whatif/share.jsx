// The menu of actions on the current run: copy a link to it, save it, embed it, print it.

import { isOfHub } from '../../store/state.js';
import { useSession } from '../../ui/context.js';
import { Menu } from '../../ui/menu.jsx';
import { useClipboard } from '../../ui/useClipboard.js';
import { isEmbeddable, snippetOf } from '../export/embedSnippet.js';

/** @import { Session } from '../../store/session.js' */
/** @import { Item } from '../../ui/menu.jsx' */

/** The part after # of a link to the initial state. Without it, a new visitor would see the first visit instead. */
const INSTRUMENT = 'panel=reading';
/** Scales of a saved PNG besides the default of 2. */
const PNG_SCALES = [1, 3, 4];

export function Share() {
  const session = useSession();
  const words = session.words.value;
  const state = session.state.value;
  const [copied, put] = useClipboard();
  // A link contains no files, so a link to an opened model works only while that model is open. A link to a model of
  // the Hub contains its name.
  const here = !session.models.includes(state.model) && !isOfHub(state.model);
  const link = {
    key: 'link',
    label: words.link,
    about: here ? words.linkHere : undefined,
    act: () =>
      put(
        `${location.href.split('#')[0]}#${session.address() || INSTRUMENT}`,
        here ? words.copiedHere : words.copied,
        here ? words.linkHere : words.notCopied,
      ),
  };
  const embed = {
    key: 'embed',
    label: words.embed,
    about: words.embedAbout,
    act: () => put(snippetOf(state), words.copied, words.notPut),
  };
  const print = { key: 'print', label: words.print, act: () => window.print() };
  return (
    <span class="actions">
      <Menu
        up
        right
        label={copied ?? words.share}
        name={words.share}
        items={[
          // If the instrument is embedded there is no link, because the address belongs to the surrounding page.
          ...(session.embedded ? [] : [link]),
          ...(isEmbeddable(state) ? [embed] : []),
          ...(session.embedded ? [] : [print]),
          { key: 'save', label: words.save, isHeading: true },
          ...(state.view === 'atlas' ? mapItems(session) : exportItems(session)),
        ]}
      />
    </span>
  );
}

/** Returns the formats in which the map of the atlas is saved. @param {Session} session @returns {Item[]} */
function mapItems(session) {
  const map = session.atlas.map.value;
  return Object.entries(session.words.value.mapExports)
    .filter(([kind]) => kind !== 'headvis' || (map !== null && map.source !== 'folder'))
    .map(([kind, label]) => ({
      key: kind,
      label,
      act: () => import('../atlas/exportMap.js').then(({ saveMap }) => saveMap(/** @type {'csv'} */ (kind), session)),
    }));
}

/** Returns the formats of an export, some of which have variants. @param {Session} session @returns {Item[]} */
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
      // Programs that compute weights from queries and keys cannot be written for a run that has only weights.
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
