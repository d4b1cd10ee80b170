// A message about the last copy.

import { useState } from 'preact/hooks';
import { useSession } from '../store/context.ts';
import { copyText } from '../ui/clipboard.ts';

/**
 * Returns the message about the last copy, for two seconds after it, and a function that copies a text. The message is
 * `good` if the text was copied, otherwise `bad`.
 */
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
