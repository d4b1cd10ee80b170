// A link to the current step of the story. A press copies it.

import { useSession, useTexts } from '../../ui/context.js';
import { useClipboard } from '../../ui/useClipboard.js';
import { linkTo } from './steps.js';
import { TEXTS } from './texts.js';

/** @param {{ step: number }} props */
export function StepLink({ step }) {
  const session = useSession();
  const texts = useTexts(TEXTS);
  const { copied: isCopied, notCopied } = session.words.value;
  const [copied, put] = useClipboard();
  const link = `#${linkTo(step)}`;
  const copy = (/** @type {MouseEvent} */ event) => {
    // With a modifier key the browser opens the link in another window.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    put(location.href.split('#')[0] + link, isCopied, notCopied);
  };
  return (
    <a class="word step-link" href={link} onClick={copy}>
      {copied ?? texts.link}
    </a>
  );
}
