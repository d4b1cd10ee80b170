// A message about the last copy.

import { useState } from 'preact/hooks';
import { copyText } from './clipboard.js';
import { useSession } from './context.js';

/**
 * Returns the message about the last copy, for two seconds after it, and a function that copies a text. The message is
 * `good` if the text was copied, otherwise `bad`.
 * @returns {[copied: string | null, put: (content: string, good: string, bad: string) => void]}
 */
export function useClipboard() {
  const session = useSession();
  const [copied, setCopied] = useState(/** @type {string | null} */ (null));
  const put = async (/** @type {string} */ content, /** @type {string} */ good, /** @type {string} */ bad) => {
    const text = (await copyText(content)) ? good : bad;
    setCopied(text);
    session.announce(text);
    setTimeout(() => setCopied(null), 2000);
  };
  return [copied, put];
}
