// A message about the last copy.

import { useState } from 'preact/hooks';
import { useSession } from '../store/context.ts';
import { copyText } from '../ui/clipboard.ts';

/** Returns the message about the last copy for two seconds, `good` or `bad`, and a function that copies a text. */
export function useClipboard(): [copied: string | null, put: (content: string, good: string, bad: string) => void] {
  const session = useSession();
  const [copied, setCopied] = useState(null as string | null);
  const put = async (content: string, good: string, bad: string) => {
    const text = (await copyText(content)) ? good : bad;
    setCopied(text);
    session.announce(text);
    setTimeout(() => setCopied(null), 2000);
  };
  return [copied, put];
}
