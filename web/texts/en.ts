// The page's texts in English.

import { shareText } from '../model/numbers.ts';
import type { AttentionPart, Settings } from '../model/protocol/protocol.ts';
import { first } from './first.en.ts';
import { story } from './story.en.ts';

const percent = (p: number) => (p > 0 && p < 0.005 ? '<1%' : `${Math.round(100 * p)}%`);

const names: Record<string, string> = {
  repeat: 'Repeat',
  previous: 'Previous',
  copy: 'Copy',
  reverse: 'Reverse',
  sort: 'Sort',
  brackets: 'Brackets',
  recall: 'Recall',
  whale: 'Moby, on your own text',
};
/** Short names of the models for the header, which has less room. */
const models: Record<string, string> = { ...names, whale: 'My copy' };

export const strings = {
  language: 'English',
  other: '中文',
  title: 'Headlight: what every attention head looks at',
  percent,
  fine: shareText,

  skip: 'Go to the picture',
  models: 'Model',
  whale: 'Moby',
  whaleAbout: (about: { layers: number; heads: number }) =>
    `A small language model, trained on Moby-Dick: ${about.layers} layers of ${about.heads} heads.`,
  others: {
    sentence: ['Sentence encoder', 'Universal Sentence Encoder: 2 layers of 4 heads. 7 MB, loaded when chosen.'],
    constructed: ['Handmade heads', 'Eight handmade heads for teaching, with one role each.'],
    patches: ['Patches of a picture', 'Six handmade heads on a picture. Yours works too.'],
  },
  loading: (share: number) => `reading ${Math.round(100 * share)}%`,
  bytes: (n: number) =>
    n < 1e4
      ? `${n} bytes`
      : n < 1e6
        ? `${Math.round(n / 1e3)} KB`
        : n < 1e9
          ? `${(n / 1e6).toFixed(1)} MB`
          : `${(n / 1e9).toFixed(2)} GB`,
  open: {
    open: 'Open…',
    title: 'Open a model, or attention weights',
    weights: 'Attention weights',
    pasted: 'pasted',
    transpose: 'Transpose it',
    dropHere: 'Drop a model, or attention weights',
    cancel: 'Cancel',
    recognised: 'Recognised content',
    forget: 'Remove it from memory',
    yours: 'Yours',
    entry: 'Entry',
    ofBatch: (n: number) => `of 0–${n - 1}`,
    entryIs: (at: number, n: number) => `Entry ${at}; the batch has entries 0 to ${n - 1}`,
    entryBefore: 'Previous entry',
    entryAfter: 'Next entry',
    noTokens: 'Tokens are numbered: their names are unknown. Drop or paste a JSON list of names.',
    folderNothing: 'Nothing to switch: this folder contains no model.',
    nothingToAsk: 'These are weights without their model: nothing can be changed.',
    onlyRow: 'The file holds weights only: queries, keys and values are not in it.',
    rowAbout: 'the whole row sums to',
    picture: (rows: number, columns: number) => `A picture in ${rows} × ${columns} patches`,
    another: 'Your own picture…',
    cover: (word: string) => `mask ${word}`,
    coverFirst: 'Mask a word, and the model fills it in.',
    covered: 'In place of',
    sees: 'Classes',
    second: 'the text that the decoder has written so far',
    firstToken: 'The decoder has only its first token. Each token that it writes adds a row.',
    parts: { encoder: 'Encoder', decoder: 'Decoder', cross: 'Decoder to encoder', text: 'Sentence', vision: 'Picture' },
    headOf: (part: AttentionPart, l: number, h: number) =>
      `${{ encoder: 'Encoder', decoder: 'Decoder', cross: 'Cross', text: 'Sentence', vision: 'Picture' }[part]} ${l}.${h}`,
    partOf: 'Which attention',
  },
  problems: {
    noWorker: () =>
      'the worker did not start. Its file must be next to the page’s script, and a Content-Security-Policy must allow it: worker-src ‘self’, from another origin worker-src blob:',
    gone: () => 'Your model was closed with the page; files are never stored. Open it again.',
    noFiles: () => 'There are no files. Choose the files of a model, or a folder that contains them.',
    manyFiles: (n: number, most: number) =>
      `${n} files: at most ${most} are read at once. Choose the folder of one model.`,
    manyUnknown: (n: number, names: string) =>
      `None of these ${n} files is a model or holds attention weights (${names} …). Choose config.json with its safetensors, or npy, npz, safetensors or JSON with weights.`,
    unknownFile: (name: string) =>
      `${name} is neither a model (safetensors, gguf, bin, pt) nor npy, npz or JSON. Other formats (onnx, h5, msgpack) cannot be read: save the model with save_pretrained(…, safe_serialization=True).`,
    table: (name: string) =>
      `${name} is a table of results, which this page only saves. It opens the weights of a head as CSV: a row for each query, a column for each key.`,
    onnx: (name: string) =>
      `${name} is an ONNX file, for other programs. This page cannot open it: save the model as safetensors as well.`,
    unreadable: (name: string, why: string) => `${name} cannot be read: ${why}`,
    truncated: (name: string) => `${name} ends too early: it is truncated. Copy it again.`,
    notJson: (name: string, why: string) => `${name} is not JSON: ${why}`,
    ragged: (name: string) => `${name} is not an array: its lists differ in length or contain more than numbers.`,
    dtype: (name: string, type: string) => `${name} has the type ${type}, which cannot be read. Save it as float32.`,
    tooLarge: (name: string, size: number) =>
      `${name} has ${(size / 2 ** 30).toFixed(1)} GB and cannot be read in parts. Save it as npy or safetensors: of these only the shown part is read.`,
    noConfig: (name: string, n: number) =>
      `${name} holds ${n > 0 ? `${n} attention layer${n === 1 ? '' : 's'}` : 'the weights of a model'}, but config.json is missing: it says which model this is. Choose it together with the weights, or the whole folder.`,
    shards: (n: number, all: number, names: string) =>
      `${n} of ${all} files of weights ${n === 1 ? 'is' : 'are'} still missing: ${names}. Add ${n === 1 ? 'it' : 'them'}; the other files are kept.`,
    noWeights: (names: string) =>
      `config.json came without weights${names && ` (with ${names})`}. Choose the .safetensors or .bin files together with it, or the whole folder.`,
    noAttention: (name: string, shape: string, n: number) =>
      `${name} (${shape})${n > 1 ? ` and ${n - 1} more` : ''}: no attention weights. Their last two axes are tokens, and rows sum to 1: save them after the softmax.`,
    transposed: (name: string, shape: string) =>
      `${name} (${shape}): columns sum to 1, rows do not. Is it transposed? Rows must be queries.`,
    noArrays: (name: string) =>
      `${name} has no attention weights: lists of lists of numbers, with or without a name, such as {"attentions": [[1, 0], [0.5, 0.5]]}.`,
    tokensAlone: () => 'These are only tokens. Drop them together with the weights, or while weights are shown.',
    manyHeads: (name: string, layers: number, heads: number) =>
      `${name} has ${layers} × ${heads} heads, at most 4096 are shown. Save some of the layers.`,
    nothing: (name: string) => `${name} is empty.`,
    layerShape: (name: string, shape: string) =>
      `${name} (${shape}) is not a query: its axes are tokens and width with a layer’s weights, else heads, tokens and width.`,
    layerMisfit: (name: string, shape: string, expected: string) =>
      `${name} is ${shape}; with this query it must be ${expected}.`,
    layerLarge: (n: number, most: number) => `${n} tokens, at most ${most} are drawn. Save fewer of them.`,
    layerWeights: (why: string) => `The weights do not fit their input: ${why}`,
    unknownLayers: (type: string, n: number, heads: number, width: number) =>
      `The model type ${type} is unknown, but it has ${n} attention layer${n === 1 ? '' : 's'} (${heads} heads, ${width} wide). Open one layer’s weights with its input (hidden_states), or save the attention weights as npy.`,
    unknownFamily: (type: string) =>
      `The model type ${type} is unknown, and its file has no attention layers. Save its attention weights as npy and open those.`,
    checkpoint: (why: string) => `This model cannot be opened: ${why}`,
    memory: () => 'There is not enough memory for this model. Close other models, or open a smaller one.',
    sound: (family: string) =>
      `This model (${family}) came without preprocessor_config.json, which says how sound is prepared for it. Add that file; the others are kept.`,
    noSound: (name: string) =>
      `This browser cannot read the sound${name && ` ${name}`}. Every browser reads WAV and MP3.`,
    shortSound: () => 'This sound is too short: a tenth of a second is needed.',
    noListener: () => 'This is a sound. First open a model for sound, such as openai/whisper-tiny.',
    noPicture: (name: string) => `This browser cannot read the picture ${name}. Every browser reads PNG and JPEG.`,
    noToken: (id: number, most: number) => `There is no token ${id}: the tokens of this model are 0 to ${most}.`,
    textMemory: (n: number, most: number) =>
      `There is not enough memory for ${n} tokens. About ${most} tokens fit: shorten the text.`,
    longText: (n: number, most: number) =>
      `This needs the weights of all heads, and for ${n} tokens they are too many. With this model it works for up to ${most} tokens.`,
    long: (n: number, most: number) =>
      `The text had ${n.toLocaleString('en')} characters: the first ${most.toLocaleString('en')} are kept. Undo restores the previous text.`,
  },
  themes: { light: 'Light colours', dark: 'Dark colours' },
  help: 'Help',
  helpAndKeys: 'Help, keys and terms',

  sentence: 'The text. Write here',
  note: ['The bar under a word: how much', 'looks at it, in this head'],
  noteOff: ['This head is off,', 'so its bars are pale'],
  write: 'write on',
  stop: 'stop',
  cut: (n: number) => `Only the first ${n} tokens are read.`,
  empty: 'Write a few words here',
  emptyNumbers: 'Type numbers: 5 12 7',
  nothing: {
    title: 'Nothing to read yet',
    text: 'Write a few words at the top. They become tokens, and this picture shows where each token looks.',
    numbers:
      'This model came without its tokenizer.json: it reads token numbers. Type some at the top, with spaces between ' +
      'them, such as 5 12 7.',
    begin: 'Begin with a sentence',
    beginNumbers: 'Begin with some numbers',
  },

  next: 'Next token',
  after: 'after',
  other_without: (head: string) => `without ${head}`,
  other_with: 'with the head on',
  other_before: 'before the change',
  other_pinned: 'in the pinned run',
  follow: (
    token: string,
    now: string,
    other: string | false,
    /** rank if likelier predictions are not listed, otherwise 0 */ rank: number,
  ) =>
    `${token}: ${now}${other ? `, in the comparison ${other}` : ''}${rank ? `, number ${rank} by probability; likelier ones are left out above` : ''}. Choose it`,
  atTheEnd: ['Guesses at the end of the text, not after', ''],

  tokensIn: 'Tokens in',
  stream: 'Probability of the guess if the model ended here',
  layerWord: 'layer',
  layer: (l: number) => `layer ${l}`,
  headName: (l: number, h: number) => `Layer ${l}, head ${h}`,
  headInText: (l: number, h: number) => `layer ${l}, head ${h}`,
  isOff: 'is off',
  isPart: (x: number) => `at ${x}`,
  offMeans: {
    zero: (last: boolean) =>
      `Its output is set to zero. ${last ? 'The guess is made without it' : 'Later layers run without it'}.`,
    mean: (last: boolean) =>
      `Its output is set to its mean over all tokens. ${last ? 'The guess is made with it' : 'Later layers run with it'}.`,
  },
  rank: 'rank heads',
  sorts: { place: 'by number', effect: 'in each layer, by cost (tries all)', uniform: 'in each layer, by certainty' },
  roleNames: {
    partner: 'the answer',
    induction: 'induction',
    previous: 'previous',
    duplicate: 'same token',
    itself: 'itself',
    first: 'first token',
    nearby: 'nearby',
  },
  does: {
    partner: 'looks at the token that is the answer',
    induction: 'finds the same words earlier, looks at the word after them',
    previous: 'looks at the token just before',
    duplicate: 'looks at earlier tokens like this one',
    itself: 'each token looks at itself',
    first: 'looks mostly at the first token',
    nearby: 'looks at the tokens near it',
  },
  givesWeight: (weight: string) => `: ${weight} of its weight, on average`,
  measuredOn: {
    passages: 'Measured on random tokens that occur twice, so the role does not depend on the text.',
    text: 'Measured on this text.',
    folder: 'As the folder says.',
  },
  doesNot: 'follows no simple rule',
  usually: (role: string) => `usually: ${role}; here: nothing to find`,
  noMatch: 'no match',
  looksMostly: ': looks mostly at ',
  accept: (token: string) => `Accept the guess ${token}; hold it to continue`,
  scoresTitle: 'Scores on this text: the mean weight on tokens of that kind',

  picture: (head: string) => `Attention in ${head}. Arrow keys move between cells`,
  cell: (query: string, key: string, weight: string) => `Attention from ${query} to ${key}: ${weight}`,
  hidden: (query: string, key: string) => `${query} cannot see ${key}: it comes later, or is masked`,
  masked: 'masked',
  nan: 'NaN',
  views: {
    heatmap: 'Heatmap',
    patches: 'Picture',
    matrix: 'Matrix',
    lines: 'Lines',
    flow: 'Flow',
    trace: 'Trace',
    compare: 'Compare',
    text: 'Text',
    atlas: 'Atlas',
  },
  compare: {
    no: 'not shown',
    beside: 'Side by side',
    besideAbout: 'This run and the pinned one.',
    difference: 'Difference',
    differenceAbout: 'This run minus the pinned one.',
  },
  viewsOf: 'View',
  legend: 'Weight, by colour',
  colours: {
    name: 'Colours',
    fixed: '0–1',
    fixedAbout: 'The same colours for all heads.',
    head: 'this head',
    headAbout: 'From 0 to the largest weight of each head.',
    log: 'log',
    logAbout: 'Logarithmic, from 0.0001 to 1: small weights differ visibly.',
  },

  units: { name: 'Rows and columns', tokens: 'tokens', words: 'words' },
  means: {
    name: 'Heads in the picture',
    head: 'One head',
    layer: 'Mean of this layer',
    all: 'Mean of all heads',
    rollout: 'Rollout',
    title: (mean: string, l: number) =>
      mean === 'layer' ? `Mean of layer ${l}` : mean === 'all' ? 'Mean of all heads' : 'Attention rollout',
    layerAbout: 'the mean over the heads of this layer.',
    allAbout: 'the mean over every head of the model.',
    rolloutAbout: 'how much of each token reaches each token through all layers, by attention alone.',
    about: 'Several heads together: there is no single query and key.',
  },
  looksAt: 'looks at',
  how: 'How this number is computed.',
  howShort: 'calculation',
  query: 'query',
  key: 'key',
  product: 'q × k',
  softmax: 'softmax',
  value: 'value',
  mixture: 'mixture',
  inFull: 'show every step',
  inShort: 'show less',
  queryText: ['what', 'looks for'],
  numbers: (n: number) => `, ${n} numbers`,
  keyText: ['what', 'is matched on'],
  ofRow: 'its share of the row:',
  steps: {
    short: 'sum',
    comma: ', ',
    sum: 'multiplied pair by pair and summed',
    divided: (root: number, by: number) => `÷ √${root}${by === 1 ? '' : ` ÷ ${by}`}`,
    notDivided: 'not divided in this model',
    times: (factor: string) => `× ${factor}`,
    capped: (cap: string) => `capped at ±${cap}`,
    distance: (amount: string) => `${amount} for the distance`,
    temperature: (by: string) => `÷ ${by}, the temperature`,
    score: 'score',
    colon: ': ',
  },
  whole: 'compared with every score in the row',
  wholeAndSink: (sink: string) => `compared with every score in the row and this head’s sink, ${sink}`,
  gives: ['', ' × what ', ' passes on'],
  alone: 'nothing else:',
  plus: 'plus',
  of: '×',
  writes: 'the output of this head at',
  writesNot: 'this head is off: its output is zero at',
  writesMean: 'this head is off: its mean over all tokens is its output at',
  writesOther: 'from the pinned run: the output of this head at',
  adds: 'adds to',
  logit: 'logit',
  readAlong: (token: string, ahead: boolean) =>
    `Read along a row: how much “${token}” looks at each ${ahead ? '' : 'earlier '}word. Each row adds up to 1.`,
  guessAfter: [', the guess after', ''],
  cannot: ['cannot look at', 'It comes later.', 'It is hidden.', 'All keys are hidden: nothing is read.'],

  lensAbout: (l: number) => `The next token if the model ended with layer ${l}`,
  ablation: {
    begin: 'Ablate each head',
    stop: (done: number, total: number) => `${done} of ${total}, stop`,
    title: 'Without each head',
    about: (percent: string) => `: ${percent}. With one head off it falls or rises to:`,
    none: 'Each head is switched off in turn.',
    replaced: {
      zero: 'The output of a head that is off is zero.',
      mean: 'The output of a head that is off is its mean over all tokens.',
    },
    turns: 'The mean angle by which the hidden states turn with one head off.',
    turnsBy: (angle: string) => `turns by ${angle}`,
  },
  hideBelow: 'hide below',

  whatIf: 'What if',
  temperature: 'temperature',
  mask: 'mask',
  masks: {
    causal: 'causal',
    none: 'none',
    window: (n: number) => `last ${n + 1}`,
    brush: 'by hand…',
    painted: (mask: string) => `${mask}, painted`,
  },
  masksAbout: {
    causal: 'A token sees itself and earlier tokens.',
    none: 'A token sees later tokens too. The model was not trained this way.',
    own: 'Every token sees every token, as in training.',
    window: (n: number) => (n === 0 ? 'A token sees only itself.' : `A token sees itself and ${n} before it.`),
    brush: 'Hide cells with a brush.',
  },
  in: 'in',
  scopes: { all: 'all heads', layer: 'this layer', head: 'this head' },
  scopeOf: 'Where temperature and mask are changed',
  thisHead: 'this head',
  on: 'on',
  half: 'half',
  off: 'off',
  whenOff: 'when off',
  replacements: { zero: 'zero', mean: 'its mean over all tokens' },
  patch: 'replace with',
  patched: 'the pinned run',
  notPatched: 'not replaced',
  patchAbout: 'The output of this head is taken from the pinned run.',
  changes: 'head and mask',
  reset: 'Reset',
  share: 'Share',
  save: 'Save',
  print: 'Print',
  pin: 'Pin this run',
  unpin: 'Unpin',
  pinAbout: 'Keep this run and compare later ones with it',
  link: 'Copy link',
  copied: 'Copied',
  copiedHere: 'Copied, for here only',
  linkHere: 'The link holds no files: it works on this page while the model is open, and nowhere else',
  embed: 'Code for another page',
  embedAbout: 'Copies HTML that shows this head in a page of your own.',
  notPut: 'This browser does not allow copying',
  notCopied: 'The link is in the address line',
  more: 'More',
  links: ['Documentation', 'Source', 'Licence'],
  close: 'Close',
  exports: {
    png: 'Picture, PNG',
    svg: 'Drawing, SVG',
    csv: 'Numbers, CSV',
    npy: 'All heads, npy',
    safetensors: 'All heads, safetensors',
    json: 'All heads, JSON',
    mjs: 'Program in JavaScript',
    py: 'Program for PyTorch',
  },
  mapExports: { headvis: 'For HeadVis, zip', csv: 'Numbers of all heads, CSV', svg: 'Map, SVG' },
  allHeads: 'All heads in a table',
  withFigures: 'with numbers',
  sharp: (n: number) => `The picture at ${n} times its size`,
  undone: 'undone',
  redone: 'redone',

  story,
  first,

  refused: (title: string, why: string) => `${title} could not be shown. ${why}`,
  coming: 'reading…',
  failed: (message: string) => `This did not work: ${message}`,
  endedAgain: 'the browser stopped the computation again and again. Use a shorter text or a smaller model.',
  again: 'Try again',

  train: {
    train: 'Train',
    trainAbout: 'Train a small model here, and watch its heads.',
    leave: 'Leave training',
    tasks: names,
    models,
    inTraining: (task: string) => `${models[task]}, in training`,
    trained: (task: string, steps: number) => `${models[task]}, ${steps} steps`,
    keptHere: ({ layers, heads, width }: Settings) =>
      `Trained here: ${layers} × ${heads} heads, ${width} wide. Stored in this browser.`,
  },
};
