// The texts about models of the Hugging Face Hub, in English.

const count = (n: number) =>
  n < 1e6 ? n.toLocaleString('en') : n < 1e9 ? `${(n / 1e6).toFixed(0)} million` : `${(n / 1e9).toFixed(1)} billion`;

/** Returns the time that remains, in words that still read well while it passes. */
const time = (seconds: number) =>
  seconds < 90
    ? `${Math.max(Math.round(seconds), 1)} s`
    : seconds < 5400
      ? `${Math.round(seconds / 60)} min`
      : `${(seconds / 3600).toFixed(1)} h`;

export const texts = {
  title: 'From the Hugging Face Hub',
  local: 'From this machine',
  field: 'Name or link of a model',
  placeholder: 'gpt2, Qwen/Qwen3-0.6B, or a link',
  open: 'Open',
  about: 'Only its name goes to huggingface.co. Your texts stay on this machine.',
  stored: 'in this browser',
  storedList: 'Stored in this browser',
  recommended: 'Some to begin with',
  remove: (id: string) => `Delete ${id} from this browser`,
  removeShort: 'delete',
  removed: (id: string) => `${id} is deleted from this browser`,
  waiting: 'The Hub or the connection is busy: the next attempt follows in a moment.',
  describing: (name: string) => `Looking at ${name}…`,
  notStored: 'This browser stores no files for this page, so the model is downloaded each time.',
  fromDisk:
    'This page was opened from a disk. Here this browser stores no files, so the model is downloaded each time: serve the page (npm start) to store it.',
  isModel: (family: string, layers: number, heads: number, parameters: number) =>
    `${family}: ${layers} layers × ${heads} heads, ${count(parameters)} parameters.`,
  download: (left: string, size: string) =>
    left === size ? `The download is ${size}.` : `The download is ${left}; the rest of ${size} is in this browser.`,
  downloaded: (size: string) => `Its ${size} are in this browser: nothing is downloaded.`,
  weights: 'Memory, by the form of its weights',
  forms: {
    float32: '32 bits',
    stored: '16 bits',
    blocks: 'as in the file',
    int8: '8 bits',
  },
  formsAbout: {
    float32: 'exact',
    stored: 'the same but for the last digits',
    blocks: 'numbers differ slightly',
    int8: 'rounded: numbers differ slightly',
  },
  fit: {
    fits: '',
    tight: 'may be too much for this machine',
    no: 'does not fit',
  },
  room: (room: string, machine: number | null) =>
    `A page can use ${room} here.${machine === null ? '' : ` This machine reports ${machine} GB of memory.`}`,
  noneFits: (needed: string, room: string) =>
    `This model does not fit: it needs ${needed} and a page can use ${room}. Open a smaller model of the same family, or open it with the module in Node, with the first layers only.`,
  openNow: 'Open it',
  downloadNow: (left: string) => `Download ${left}`,
  back: 'Back',
  link: (head: string) => `A link leads to ${head} of this model.`,
  speed: (bytes: string) => `${bytes}/s`,
  left: (seconds: number) => `${time(seconds)} left`,
  resumes: 'After Cancel, what has been read stays in this browser: opening it again continues there.',
  token: 'Token of your account, hf_…',
  tokenAbout: 'It stays in memory until this page is closed. It is never stored, and never part of a link.',
  tokenMake: 'Make a token',
  itsPage: 'Accept its terms',
  again: 'Try again',
  problems: {
    hub_gated: () =>
      'The authors of this model ask for consent. Accept its terms on its page, then enter a token of the same account here.',
    hub_notFound: () =>
      'There is no such model on the Hub, or it is private. Check the spelling: names are OWNER/NAME. For a private model, enter a token.',
    hub_revision: (known: string) =>
      `The model has no such revision. ${known ? `There are: ${known}.` : 'Leave out what follows the @ to open its main branch.'}`,
    hub_entry: (known: string) =>
      `A file is missing in this repository, so it is not a model that can be opened. ${known ? `There are: ${known}.` : 'Open another version of the model: one with config.json and safetensors.'}`,
    hub_token: () => 'The Hub does not accept this token. It may have expired: make a new one, and enter it here.',
    hub_rateLimit: () =>
      'The Hub refuses more requests from this network for some minutes. Try again in five minutes, or enter a token: the limit of an account is higher.',
    hub_offline: () => 'There is no connection, and this model is not stored in this browser. Connect, and try again.',
    hub_network: () =>
      'The Hub cannot be reached. Check the connection, then try again: what has been read is kept. Stored models open without a connection.',
    hub_server: (why: string) => `The Hub has a problem at the moment (${why}). Try again in a minute.`,
    hub_changed: () =>
      'The file was changed on the Hub during the download. Try again: the new version is read from its beginning.',
    hub_name: (name: string) =>
      `${name} is not the name of a model. Names are like gpt2 or Qwen/Qwen3-0.6B; links begin with https://huggingface.co/.`,
  },
  /** One sentence about each recommended model. */
  see: {
    gpt2: 'GPT-2: head 5.5 finds the same words earlier and copies what came next.',
    distilgpt2: 'GPT-2 with half of the layers: quick, and its text is fluent.',
    pythia: '48 heads, quick to ablate: which ones does the guess need?',
    bert: 'BERT: reads in both directions. Mask a word, see what fills it in.',
    minilm: 'A sentence encoder: how similar are two sentences, and which of their words make them so?',
    smollm: 'A Llama with 30 layers: keys are shared by three heads each.',
    qwen: 'A chat model, 28 × 16 heads: most attend to the first token.',
    t5: 'Encoder and decoder: three kinds of attention side by side.',
    vit: 'Reads pictures in patches: give it a photo of your own.',
    whisper: 'Writes down speech: record your own, and see which part of the sound each word looks at.',
    bertChinese: 'A Chinese BERT: one token for each character.',
  },
};
