// English.

import { story } from './story.en.js';

const percent = (/** @type {number} */ p) => (p > 0 && p < 0.005 ? '<1%' : `${Math.round(100 * p)}%`);

/** @type {Record<string, string>} */
const names = {
  repeat: 'Repeat',
  previous: 'Previous',
  copy: 'Copy',
  reverse: 'Reverse',
  sort: 'Sort',
  brackets: 'Brackets',
  recall: 'Recall',
  text: 'Your own text',
};

export const strings = {
  language: 'English',
  other: '中文',
  title: 'Headlight: what every attention head looks at',
  percent,

  skip: 'Go to the picture',
  models: 'Model',
  whale: 'The whale',
  whaleAbout: (/** @type {any} */ about) =>
    `A small language model that has read Moby-Dick: ${about.layers} layers of ${about.heads} heads.`,
  others: {
    sentence: ['Sentence encoder', 'Universal Sentence Encoder: 2 layers of 4 heads. 7 MB, read when it is chosen.'],
    constructed: ['Heads made by hand', 'Eight heads that each do one thing, for teaching.'],
    patches: ['Patches of a picture', 'Six heads made by hand that look at a picture, yours too.'],
  },
  loading: (/** @type {number} */ share) => `reading ${Math.round(100 * share)}%`,
  bytes: (/** @type {number} */ n) =>
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
    files: 'Files…',
    folder: 'A folder…',
    drop: 'Or drop them anywhere on this page, or paste. Nothing leaves this machine.',
    kinds: [
      ['A model', 'A folder as Hugging Face has it: config.json, safetensors in one file or several, tokenizer.json.'],
      [
        'Attention weights',
        'npy, npz, safetensors or JSON of (layers, heads, tokens, tokens), (heads, tokens, tokens) or (tokens, tokens); with a JSON list of the tokens beside it, if there is one.',
      ],
      [
        'Queries, keys and values',
        'safetensors, npz, npy or JSON with query, key and value; or a layer’s weights with what goes into it (hidden_states).',
      ],
    ],
    paste: 'Paste weights or a list of tokens here, as JSON',
    pasted: 'pasted',
    show: 'Show it',
    dropHere: 'Drop a model, or attention weights',
    reading: 'Reading',
    progress: (/** @type {string} */ read, /** @type {string} */ total) => `${read} of ${total} read`,
    cancel: 'Cancel',
    recognised: 'What was recognised',
    forget: 'Remove it from memory',
    yours: 'Yours',
    isWeights:
      'Attention weights, computed elsewhere: their rows sum to 1. There is no model behind them, so nothing is predicted and nothing can be changed.',
    weightsOf: (/** @type {any} */ { name, layers, heads, wholeT, wholeS, causal }, /** @type {boolean} */ named) =>
      `${named ? `${name}: ` : ''}${layers} ${layers === 1 ? 'layer' : 'layers'} × ${heads} ${heads === 1 ? 'head' : 'heads'}, ` +
      `${wholeT === wholeS ? `${wholeT} tokens` : `${wholeT} tokens that ask, ${wholeS} that answer`}${causal ? ', no token looks ahead' : ''}.`,
    cutTo: (/** @type {number} */ all, /** @type {number} */ shown) => `Of ${all} tokens the first ${shown} are shown.`,
    batchOf: (/** @type {number} */ n) =>
      `Layers, a batch of ${n}, heads: which entry of the batch is shown is chosen above the picture.`,
    entry: 'Entry',
    ofBatch: (/** @type {number} */ n) => `of ${n}`,
    entryIs: (/** @type {number} */ at, /** @type {number} */ n) => `Entry ${at} of ${n} in the batch`,
    entryBefore: 'The entry before',
    entryAfter: 'The next entry',
    weightsNan: 'Some weights are NaN: they are shown as crosses.',
    noTokens: 'No tokens were given: they are numbered. Drop or paste a JSON list of them to name them.',
    unused: (/** @type {string} */ names) => `Not used: ${names}.`,
    isModel: (
      /** @type {string} */ family,
      /** @type {number} */ layers,
      /** @type {number} */ heads,
      /** @type {number} */ width,
    ) => `${family}: ${layers} layers × ${heads} heads of ${width}.`,
    size: (/** @type {number} */ parameters, /** @type {string} */ bytes, /** @type {string} */ weights) =>
      `${parameters < 1e6 ? parameters.toLocaleString('en') : `${(parameters / 1e6).toFixed(1)} million`} parameters, ${bytes}; ` +
      (weights === 'int8'
        ? 'kept as int8, because it is large: numbers differ a little from float32.'
        : 'kept as float32.'),
    does: {
      next: 'It says which token comes next.',
      masked: 'It says what it would put at a covered place.',
      classes: 'It says what it sees in a picture.',
      nothing: 'It has no head that predicts: its attention is shown.',
      unasked:
        'It would say what it puts at a covered place, but it has no token that covers one: its attention is shown.',
    },
    missing: {
      tokenizer: 'tokenizer.json is missing: type token numbers in place of words.',
      preprocessor: 'preprocessor_config.json is missing: mean and spread of the colours are taken as 0.5.',
    },
    modelNan: (/** @type {number} */ n, /** @type {string} */ name) =>
      `${n} ${n === 1 ? 'tensor holds' : 'tensors hold'} NaN (${name}): what comes of them is shown as crosses. Save the model again from a run that did not diverge.`,
    weightsTitle: (/** @type {string} */ title) => title,
    nothingToAsk: 'These weights were computed elsewhere: without the model nothing can be changed in them.',
    pairNothing: 'In an encoder–decoder nothing can be changed here.',
    onlyRow: 'The file holds weights only: queries, keys and values are not in it.',
    row: 'the row',
    rowAbout: 'the whole row adds up to',
    picture: (/** @type {number} */ rows, /** @type {number} */ columns) => `A picture in ${rows} × ${columns} patches`,
    another: 'Your own picture…',
    cover: (/** @type {string} */ word) => `cover ${word}`,
    coverFirst: 'Cover a word, and the model says what it would put there.',
    covered: 'In place of',
    sees: 'What it sees',
    second: 'what it has written so far',
    parts: { encoder: 'Encoder', decoder: 'Decoder', cross: 'Decoder to encoder' },
    partOf: 'Which attention',
    edit: 'change the text',
    done: 'done',
  },
  problems: {
    noWorker: () =>
      'the worker did not start. Its file must lie beside the page’s script, and a Content-Security-Policy must allow it: worker-src ‘self’, from another origin worker-src blob:',
    gone: () => 'The model that was open here ended with the page: files are not kept. Open it again.',
    noFiles: () => 'There was no file in it. Choose the files of a model, or a folder that holds them.',
    manyFiles: (/** @type {number} */ n, /** @type {number} */ most) =>
      `${n} files at once, at most ${most} are looked at. Choose the folder of one model.`,
    manyUnknown: (/** @type {number} */ n, /** @type {string} */ names) =>
      `None of these ${n} files is a model or holds attention weights (${names} …). Choose config.json with its safetensors, or npy, npz, safetensors or JSON with weights.`,
    unknownFile: (/** @type {string} */ name) =>
      `${name} is neither safetensors, npy, npz nor JSON. Other formats (bin, pt, gguf, onnx, h5) cannot be read: save the model with save_pretrained(…, safe_serialization=True).`,
    unreadable: (/** @type {string} */ name, /** @type {string} */ why) => `${name} cannot be read: ${why}`,
    truncated: (/** @type {string} */ name) => `${name} ends too early: it is truncated. Copy it again.`,
    notJson: (/** @type {string} */ name, /** @type {string} */ why) => `${name} is not JSON: ${why}`,
    ragged: (/** @type {string} */ name) =>
      `The lists in ${name} are not equally long, or hold something else than numbers: they are no array.`,
    dtype: (/** @type {string} */ name, /** @type {string} */ type) =>
      `${name} holds ${type}, which is not decoded. Save it as float32.`,
    tooLarge: (/** @type {string} */ name, /** @type {number} */ size) =>
      `${name} has ${(size / 2 ** 30).toFixed(1)} GB and cannot be read in parts. Save it as npy or safetensors: of these only what is shown is read.`,
    noConfig: (/** @type {string} */ name, /** @type {number} */ n) =>
      `${name} holds ${n} attention layers, but config.json is missing: it says which model this is. Choose it together with the weights, or the whole folder.`,
    noWeights: (/** @type {string} */ names) =>
      `config.json came without weights${names && ` (with ${names})`}. Choose the .safetensors files together with it, or the whole folder.`,
    noAttention: (/** @type {string} */ name, /** @type {string} */ shape, /** @type {number} */ n) =>
      `${name} (${shape})${n > 1 ? ` and ${n - 1} more` : ''}: no attention weights. They have two axes of tokens at the end and rows that sum to 1: save them after the softmax.`,
    noArrays: (/** @type {string} */ name) =>
      `No attention weights are in ${name}: they are lists of lists of numbers, alone or under a name, such as {"attentions": [[1, 0], [0.5, 0.5]]}.`,
    tokensAlone: () => 'These are tokens alone. Drop them together with the weights, or while weights are shown.',
    manyHeads: (/** @type {string} */ name, /** @type {number} */ layers, /** @type {number} */ heads) =>
      `${name} has ${layers} × ${heads} heads, at most 4096 are shown. Save some of the layers.`,
    nothing: (/** @type {string} */ name) => `${name} is empty.`,
    layerShape: (/** @type {string} */ name, /** @type {string} */ shape) =>
      `${name} (${shape}) is no query of a layer: with weights it has two axes, tokens and width; without, also heads in front.`,
    layerMisfit: (/** @type {string} */ name, /** @type {string} */ shape, /** @type {string} */ expected) =>
      `${name} is ${shape}; beside the query it would have to be ${expected}.`,
    layerLarge: (/** @type {number} */ n, /** @type {number} */ most) =>
      `${n} tokens, at most ${most} are drawn. Save fewer of them.`,
    layerWeights: (/** @type {string} */ why) => `The weights do not fit their input: ${why}`,
    unknownLayers: (
      /** @type {string} */ type,
      /** @type {number} */ n,
      /** @type {number} */ heads,
      /** @type {number} */ width,
    ) =>
      `A model of the kind ${type} is not known, but ${n} attention layers are in it (${heads} heads, ${width} wide). Open one layer’s weights with its input (hidden_states), or save the attention weights as npy.`,
    unknownFamily: (/** @type {string} */ type) =>
      `A model of the kind ${type} is not known, and no attention layers are in its file. Save its attention weights as npy and open those.`,
    checkpoint: (/** @type {string} */ why) => `This model cannot be opened: ${why}`,
    memory: () => 'There is not enough memory for this model. Close other models, or open a smaller one.',
    sound: (/** @type {string} */ family) =>
      `${family} reads sound, which cannot be given here. Save its attention weights as npy and open those.`,
    noPicture: (/** @type {string} */ name) =>
      `${name} is no picture that this browser can read. PNG and JPEG can be read everywhere.`,
    noToken: (/** @type {number} */ id, /** @type {number} */ most) =>
      `There is no token ${id}: this model knows numbers from 0 to ${most}.`,
    long: (/** @type {number} */ n, /** @type {number} */ most) =>
      `The text had ${n.toLocaleString('en')} letters: the first ${most.toLocaleString('en')} are here. Undo brings back what was.`,
  },
  theme: 'Light or dark',
  toOther: 'Chinese',
  help: 'Help',
  keys: 'Keys',
  keyList: [
    ['← ↑ → ↓', 'walk the cells of the picture'],
    ['[ ]', 'the head before, the next head'],
    ['{ }', 'the layer below, the layer above'],
    ['Enter', 'hold the cell, let it go'],
    ['Ctrl\u00a0Z, Ctrl\u00a0Shift\u00a0Z', 'undo, do again'],
    ['Esc', 'close, let go, stop'],
  ],
  terms: 'Words',
  termList: [
    ['token', 'A piece of text with a number of its own: a word or a part of one.'],
    ['head', 'One way of looking back. For every token it says how much to take from each token before.'],
    ['layer', 'Several heads that look at the same time. A model is a stack of layers.'],
    ['query', 'What a token asks for: some numbers, made from the token as the layer sees it.'],
    ['key', 'What a token answers to: as many numbers.'],
    ['score', 'Query times key, number by number, added up and scaled. High: they fit.'],
    ['softmax', 'Turns the scores of a row into weights that add up to 1.'],
    ['value', 'What a token has to give. A head adds up values by their weights.'],
    ['feed-forward', 'The part of a layer that looks at no other token.'],
    ['logit', 'The score of a possible next token. Softmax over all of them gives the probabilities.'],
  ],

  sentence: 'The text. Write here',
  note: ['The bar under a word: how much', 'looks at it, in this head'],
  noteOff: ['The bars are pale:', 'this head writes nothing now'],
  write: 'write on',
  stop: 'stop',
  cut: (/** @type {number} */ n) => `Only the first ${n} tokens are read.`,
  empty: 'Write a few words here',
  emptyNumbers: 'Type numbers: 5 12 7',
  nothing: {
    title: 'Nothing to read yet',
    text: 'Write a few words at the top. They become tokens, and here stands where each token looks.',
    numbers:
      'This model came without its tokenizer.json: it reads token numbers. Type some at the top, with spaces between ' +
      'them, such as 5 12 7.',
    begin: 'Begin with a sentence',
    beginNumbers: 'Begin with some numbers',
  },

  next: 'Next token',
  after: 'after',
  other_without: (/** @type {string} */ head) => `without ${head}`,
  other_with: 'with the head on',
  other_before: 'before the change',
  other_pinned: 'in the pinned run',
  follow: (/** @type {string} */ token, /** @type {string} */ now, /** @type {string} */ other) =>
    `${token}: ${now}, in the other case ${other}. Follow it`,

  out: 'out:',
  tokensIn: 'tokens in',
  stream: 'How likely the guess would be if the model ended here',
  layer: (/** @type {number} */ l) => `layer ${l + 1}`,
  headName: (/** @type {number} */ l, /** @type {number} */ h) => `Layer ${l + 1}, head ${h + 1}`,
  headInText: (/** @type {number} */ l, /** @type {number} */ h) => `layer ${l + 1}, head ${h + 1}`,
  isOff: 'is off',
  isPart: (/** @type {number} */ x) => `at ${x}`,
  offMeans: (/** @type {boolean} */ last) =>
    `It writes nothing now; ${last ? 'what comes out is made without it' : 'all heads above it read a stream without its answer'}.`,
  sort: 'Order of heads',
  sorts: { place: 'by place', effect: 'by effect', uniform: 'by sharpness' },
  trades: {
    partner: 'its partner',
    induction: 'induction',
    previous: 'previous',
    duplicate: 'same token',
    itself: 'itself',
    first: 'first token',
  },
  does: {
    partner: 'looks at the place where the answer stands.',
    induction: 'finds where the same text stood before, and looks at what came next.',
    previous: 'looks at the token just before.',
    duplicate: 'looks at earlier tokens like this one.',
    itself: 'each token looks at itself.',
    first: 'rests on the first token.',
  },
  doesNot: 'follows no simple rule.',
  begin: {
    read: 'Each row is a token. The stronger the colour, the more it looks there.',
    story: 'What is this? Nine short steps',
    short: 'What is this?',
  },
  scoresTitle: 'Scores on this text: the mean weight on tokens of that kind',

  picture: (/** @type {string} */ head) => `What looks at what in ${head}. Arrow keys walk the cells`,
  cell: (/** @type {string} */ query, /** @type {string} */ key, /** @type {string} */ weight) =>
    `Attention from ${query} to ${key}: ${weight}`,
  hidden: (/** @type {string} */ query, /** @type {string} */ key) =>
    `${query} cannot see ${key}: it comes later, or is masked`,
  masked: 'masked',
  nan: 'NaN',
  views: { heatmap: 'Heatmap', patches: 'Picture', matrix: 'Matrix', lines: 'Lines', flow: 'Flow', compare: 'Compare' },
  compare: {
    no: 'not shown',
    beside: 'Side by side',
    besideAbout: 'This run and the pinned one.',
    difference: 'Difference',
    differenceAbout: 'This run less the pinned one.',
  },
  viewsOf: 'View',
  legend: 'Weight, from 0 to 1',

  looksAt: 'looks at',
  how: 'How this number comes about.',
  howShort: 'how?',
  query: 'query',
  key: 'key',
  product: 'q × k',
  softmax: 'softmax',
  value: 'value',
  mixture: 'mixture',
  asks: ['what', 'asks for, |n| numbers'],
  answers: ['what', 'answers to'],
  added: 'one by one, added:',
  divided: (/** @type {number} */ width) => `divided by √${width}: score`,
  dividedToo: (/** @type {number} */ width, /** @type {string} */ t) => `divided by √${width} and ${t}: score`,
  whole: 'against the scores of the whole row',
  gives: ['of what', 'has to give'],
  mixed: (/** @type {number} */ n) => (n === 0 ? 'of it alone:' : n === 1 ? 'with one other:' : `with ${n} others:`),
  with: 'with',
  of: 'of',
  writes: 'what this head writes for',
  writesNot: 'this head is off: it writes nothing for',
  writesOther: 'from the pinned run, what this head writes for',
  adds: 'adds to the next token,',
  cannot: ['cannot look at', 'It comes later.', 'It is hidden.', 'All keys are hidden: nothing is read.'],

  lensAbout: (/** @type {number} */ l) => `What would come next if the model ended with layer ${l + 1}`,
  tried: {
    begin: 'Try every head',
    stop: (/** @type {number} */ done, /** @type {number} */ total) => `${done} of ${total}, stop`,
    title: 'Without each head',
    about: (/** @type {string} */ percent) =>
      `has ${percent}. What it has when one head is off, and the difference in points.`,
    none: 'Each head is switched off in turn.',
  },
  flow: {
    title: 'Where the guess comes from',
    rises: ['Everything is read for the last token,', '. What adds to', 'flows into it, as wide as it counts.'],
    about: (/** @type {number} */ layers, /** @type {number} */ heads) =>
      `${layers} layers of ${heads} heads. The list beside this drawing has the same numbers.`,
    cannot: 'What this source puts out is not a sum of what its parts add.',
    nothing: 'Nothing adds more than the threshold.',
    follow: (/** @type {string} */ token) => `What adds to ${token}?`,
    mlp: (/** @type {number} */ l) => `Feed-forward ${l + 1}`,
    mlpShort: 'feed-forward',
    mlpTiny: 'feed',
    rest: (/** @type {number} */ n, /** @type {number} */ l) =>
      l < 0 ? `${n} other heads` : `${n} other heads of layer ${l + 1}`,
    embed: 'The token itself',
    bias: 'Biases',
    adds: (/** @type {string} */ token) => `What adds to ${token}`,
    addsTo: ['What adds to', ''],
    takes: 'What takes away',
    others: (/** @type {number} */ n) => (n === 1 ? '1 other part' : `${n} other parts`),
    logit: (/** @type {string} */ percent) => `logit, and so ${percent}`,
    feeds: 'feeds its',
    against: 'takes away',
    hide: 'hide below',
    made: {
      mlp: 'It looks at no other token. It reads the stream at the last token and adds what it has learned of it.',
      embed: 'What the last token says by itself, before any layer.',
      rest: 'Heads below the threshold, added up. Move “hide below” to see them apart.',
      bias: 'Constants of the model, the same for every text.',
    },
    madeOf: 'What it takes from each token. Together:',
    weighed: (/** @type {string} */ weight) => `weight ${weight}`,
    otherTokens: (/** @type {number} */ n) => (n === 1 ? '1 other token' : `${n} other tokens`),
    linesOf: 'Heads that feed it, and that it feeds',
    fedBy: (/** @type {string} */ kind, /** @type {string} */ head) => `its ${kind} reads ${head}`,
    feedsIts: (/** @type {string} */ kind, /** @type {string} */ head) => `feeds the ${kind} of ${head}`,
    shortHead: (/** @type {number} */ l, /** @type {number} */ h) => `layer ${l + 1}, head ${h + 1}`,
    lineAbout: (/** @type {string} */ from, /** @type {string} */ kind, /** @type {string} */ to) =>
      `What ${from} writes goes into the ${kind} of ${to}. From their weights alone, 0 to 1.`,
    reads: 'How much of it is read by',
    norms: {
      q: '‖QKᵀ·OV‖ ÷ ‖QK‖‖OV‖',
      k: '‖QK·OV‖ ÷ ‖QK‖‖OV‖',
      v: '‖OV′·OV‖ ÷ ‖OV′‖‖OV‖',
    },
    back: 'Back to the head',
  },

  whatIf: 'What if',
  temperature: 'temperature',
  mask: 'mask',
  masks: {
    causal: 'causal',
    none: 'none',
    window: (/** @type {number} */ n) => `last ${n + 1}`,
    brush: 'by hand…',
    painted: (/** @type {string} */ mask) => `${mask}, painted`,
  },
  masksAbout: {
    causal: 'A token sees itself and what comes before.',
    none: 'A token sees what comes after as well. The model never learned this.',
    own: 'Every token sees every token, as the model learned it.',
    window: (/** @type {number} */ n) => `A token sees itself and ${n} before it.`,
    brush: 'Hide cells with a brush.',
  },
  in: 'in',
  scopes: { all: 'all heads', layer: 'this layer', head: 'this head' },
  scopeOf: 'Where temperature and mask are changed',
  thisHead: 'this head',
  on: 'on',
  half: 'half',
  off: 'off',
  patch: 'patch from',
  patched: 'the pinned run',
  notPatched: 'nothing',
  nothingPinned: 'nothing pinned',
  patchAbout: 'What this head writes is taken from the pinned run.',
  reset: 'Change nothing',
  pin: 'Pin',
  unpin: 'Unpin',
  pinAbout: 'Keep this run, to compare the next ones with it',
  link: 'Copy link',
  copied: 'Copied',
  notCopied: 'The link is in the address line',
  export: 'Export',
  more: 'More',
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
    table: 'All heads in a table',
  },
  sharp: (/** @type {number} */ n) => `The picture with ${n} × ${n} pixels for one`,
  undone: 'undone',
  redone: 'done again',

  story,

  failed: (/** @type {string} */ message) => `This did not work: ${message}`,
  endedAgain: 'what computes here is ended by the browser again and again. Take a shorter text or a smaller model.',
  again: 'Try again',

  train: {
    train: 'Train',
    task: 'Task',
    another: 'another task',
    tasks: names,
    about: {
      repeat: 'To go on, find where the same letter stood before, and look at what came after.',
      previous: 'Name the letter just before. One head that looks one step back is enough.',
      copy: 'Twelve letters, a bar, and the same letters again.',
      reverse: 'Twelve letters, a bar, and the same letters backwards.',
      sort: 'Eight digits, a bar, and the digits in order.',
      brackets: 'A dot closes the last open bracket. Which kind was it? Find its partner.',
      recall: 'Letters and their digits. When a letter comes again, which digit had it?',
      text: 'The next sign of a text that you choose. Nothing leaves this page.',
    },
    probe: {
      repeat: 'Some letters, then again and again.',
      previous: 'After each letter: which came before it?',
      copy: 'After the bar: what comes next?',
      reverse: 'After the bar: what comes next?',
      sort: 'After the bar: what comes next?',
      brackets: 'At each dot: which bracket does it close?',
      recall: 'At each letter seen before: which digit?',
      text: 'After each sign: which comes next?',
    },
    unseen: 'A sequence it has never seen',
    never: 'A sequence it has never seen.',
    underlined: 'Underlined',
    guessed: ': guessed right.',
    ownText: 'The text to learn',
    learn: 'Learn this',
    short: (/** @type {number} */ least) => `At least ${least} signs.`,
    heldOut: 'Its last fifth is held out, to test on.',
    sample:
      'Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of the world. It is a way I have of driving off the spleen and regulating the circulation. Whenever I find myself growing grim about the mouth; whenever it is a damp, drizzly November in my soul; whenever I find myself involuntarily pausing before coffin warehouses, and bringing up the rear of every funeral I meet; then, I account it high time to get to sea as soon as I can. This is my substitute for pistol and ball. With a philosophical flourish Cato throws himself upon his sword; I quietly take to the ship. There is nothing surprising in this. If they but knew it, almost all men in their degree, some time or other, cherish very nearly the same feelings towards the ocean with me.',
    progress: 'How well it does',
    untrained: 'Not trained yet',
    percent: (/** @type {number} */ x) => `${(100 * x).toFixed(1)}%`,
    right: (/** @type {number} */ x) => `${(100 * x).toFixed(1)}% right`,
    onUnseen: 'on sequences it never learned from',
    onUnseenShort: 'on unseen sequences',
    loss: 'Loss',
    lossShort: 'loss',
    lossAbout: 'How surprised the model is by the right answer: 0 is not at all',
    rightUnseen: 'Right, unseen',
    rightAbout: 'How many of its guesses are right on sequences that it never learned from',
    headsDo: 'What the heads do',
    headsAbout: 'The mean weight on the token that a head of this kind looks for. Layer·head',
    older: 'thin: the run before',
    film: 'What this head looked at, step by step',
    step: (/** @type {number} */ step) => `step ${step}`,
    stepOf: (/** @type {number} */ step, /** @type {number} */ end) => `step ${step} of ${end}`,
    formed: (/** @type {number} */ step, /** @type {string | undefined} */ kind) =>
      `${step}: ${kind === 'induction' ? 'the stripes form' : kind === 'previous' ? 'it looks one back' : 'it finds the place'}`,
    controls: 'Training',
    play: 'Train',
    pause: 'Pause',
    speed: 'Speed',
    perSecond: (/** @type {number | null} */ x) => (x === null ? 'as fast as it can' : `${x} steps a second`),
    perSecondShown: (/** @type {number | null} */ x, /** @type {boolean} */ short) =>
      x === null ? (short ? 'full speed' : 'as fast as it can') : short ? `${x} steps / s` : `${x} steps a second`,
    oneStep: 'One step',
    again: 'Start over',
    rate: 'learning rate',
    layers: (/** @type {number} */ n) => (n === 1 ? '1 layer' : `${n} layers`),
    of: 'of',
    heads: (/** @type {number} */ n) => (n === 1 ? '1 head' : `${n} heads`),
    comma: ',',
    wide: (/** @type {number} */ n) => `${n} wide`,
    tryIt: 'Try your own letters',
    tryShort: 'Try it',
    save: 'Save',
    file: 'Save as a file',
    fileAbout: 'safetensors, with its settings',
    folder: 'Take it to PyTorch',
    folderAbout: 'zip: the model, tokens, and train.py, which goes on',
    onnx: 'Save as ONNX',
    onnxAbout: 'for onnxruntime, with the weights of every head',
    open: 'Open a saved file…',
    openAbout: 'A model that was trained and saved here',
    remove: 'Delete it here',
    keptAbout: (/** @type {number} */ steps) => `This browser keeps it as it was at step ${steps}.`,
    inTraining: (/** @type {string} */ task) => `${names[task]}, in training`,
    trained: (/** @type {string} */ task, /** @type {number} */ steps) => `${names[task]}, ${steps} steps`,
    keptHere: (/** @type {any} */ { layers, heads, width }) =>
      `Trained here: ${layers} × ${heads} heads, ${width} wide. This browser keeps it.`,
    astray: (/** @type {any} */ { step, nan, back, rate }) =>
      `At step ${step} ${nan ? 'the loss was no longer a number' : 'the loss had grown far above its beginning'}: at a learning rate of ${rate} the steps were too large. The model is back at step ${back}. Choose a lower learning rate and train on.`,
    full: 'There is no room left in this browser to keep the model: a reload would lose it. Save it as a file, or delete one that is kept.',
    notKept: (/** @type {string} */ why) =>
      `This browser does not keep the model (${why}): a reload would lose it. Save it as a file.`,
  },
};
