// A link to the current step of the story. A press copies it.

import { useClipboard } from '../../parts/useClipboard.ts';
import { linkTo } from '../../store/address.ts';
import { useSession, useTexts } from '../../store/context.ts';
import { TEXTS } from './texts.ts';

export function StepLink({ step }: { step: number }) {
  const session = useSession();
  const texts = useTexts(TEXTS);
  const { copied: isCopied, notCopied } = session.words.value;
  const [copied, put] = useClipboard();
  const link = `#${linkTo(step)}`;
  const copy = (event: MouseEvent) => {
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
