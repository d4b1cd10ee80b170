// The menu of actions on the current run: copy a link to it, save it, embed it, print it.

import { isOfHub } from '../../model/state.ts';
import { useClipboard } from '../../parts/useClipboard.ts';
import { useSession } from '../../store/context.ts';
import { Menu } from '../../ui/menu.tsx';
import { exportsOf, isEmbeddable, snippetOf } from '../export/feature.ts';

/** The part after # of a link to the initial state. Without it, a new visitor would see the first visit instead. */
const INSTRUMENT = 'panel=reading';

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
  const files = exportsOf(session);
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
          ...(files.length > 0 ? [{ key: 'save', label: words.save, isHeading: true }, ...files] : []),
        ]}
      />
    </span>
  );
}
