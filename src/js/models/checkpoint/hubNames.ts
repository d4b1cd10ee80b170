// Recognizes names and addresses of the Hub, which src/js/hub opens.

const HOSTS = ['huggingface.co', 'www.huggingface.co', 'hf.co'];
/** A name of the Hub, with or without its owner. */
const NAME = /^(?:\w[\w.-]{0,95}\/)?\w[\w.-]{0,95}$/;

/** True for hf:// names and for addresses of the Hub or of the mirror at `endpoint`. */
export function isHubAddress(address: string, endpoint?: unknown) {
  if (/^hf:/i.test(address)) return true;
  const [url, mirror] = [address, endpoint].map((text) =>
    /^https?:/i.test(String(text)) ? parse(String(text)) : null,
  );
  return url !== null && (HOSTS.includes(url.hostname) || url.origin === mirror?.origin);
}

function parse(text: string) {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Returns a sentence for the error about a path that may be meant as a name on the Hub. */
export const hubHint = (path: string) =>
  NAME.test(path) ? `. If ${path} is a name on the Hugging Face Hub, open hf://${path}` : '';
