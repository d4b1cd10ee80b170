// The contents list of the documentation: every page once, in the order in which it is read.

/** @typedef {{ text: string, link: string, target?: string }} Entry */

/** @type {{ text: string, items: Entry[] }[]} */
export const GUIDE = [
  {
    text: 'First steps',
    items: [
      { text: 'Quick start', link: '/' },
      { text: 'I want to …', link: '/tasks' },
      { text: 'From a question to a finding', link: '/guide/finding' },
      { text: 'Contents', link: '/guide/' },
      { text: 'From transformers.js', link: '/guide/from-transformers-js' },
      { text: 'From TransformerLens', link: '/guide/from-transformerlens' },
      { text: 'From BertViz', link: '/guide/from-bertviz' },
    ],
  },
  {
    text: 'Whole models',
    items: [
      { text: 'Whole models', link: '/guide/models' },
      { text: 'From text to results', link: '/guide/results' },
      { text: 'Generating text', link: '/guide/generation' },
      { text: 'Quantized weights', link: '/guide/quantization' },
    ],
  },
  {
    text: 'Inside a model',
    items: [
      { text: 'Capturing and changing values', link: '/guide/edits' },
      { text: 'Analysis', link: '/guide/analysis' },
      { text: 'Gradients and circuits', link: '/guide/circuits' },
      { text: 'Heads over many texts', link: '/guide/heads' },
      { text: 'The page', link: '/guide/page' },
    ],
  },
  {
    text: 'Attention and training',
    items: [
      { text: 'Attention', link: '/guide/attention' },
      { text: 'Layers', link: '/guide/layers' },
      { text: 'Training', link: '/guide/training' },
    ],
  },
  {
    text: 'In your project',
    items: [
      { text: 'Memory and errors', link: '/guide/memory' },
      { text: 'Threads', link: '/guide/threads' },
      { text: 'Bundlers and policies', link: '/guide/bundlers' },
      { text: 'Files', link: '/guide/files' },
      { text: 'ONNX', link: '/guide/onnx' },
    ],
  },
];

/** @type {Entry[]} */
export const REFERENCE = [
  { text: 'API', link: '/../reference/index.html', target: '_self' },
  { text: 'API by name', link: '/names' },
  { text: 'Model families', link: '/families' },
  { text: 'Value names', link: '/values' },
  { text: 'Conventions', link: '/conventions' },
  { text: 'Accuracy', link: '/accuracy' },
  { text: 'Speed', link: '/speed' },
  { text: 'Platforms', link: '/platforms' },
  { text: 'For coding agents', link: '/agents' },
  { text: 'Changelog', link: '/changelog' },
];

/** @type {Entry[]} */
export const RECIPES = [
  { text: 'All recipes', link: '/recipes/' },
  { text: 'A key/value cache', link: '/recipes/cache' },
  { text: 'With other libraries', link: '/recipes/elsewhere' },
  { text: 'Headers for threads', link: '/recipes/headers' },
  { text: 'On a server', link: '/recipes/server' },
  { text: 'On a Next server', link: '/recipes/next' },
  { text: 'In a notebook', link: '/recipes/notebook' },
  { text: 'A course page', link: '/recipes/course' },
  { text: 'React, Svelte and Vue', link: '/recipes/components' },
  { text: 'A chat', link: '/recipes/chat' },
  { text: 'Long jobs', link: '/recipes/long-jobs' },
  { text: 'Models of the Hub', link: '/recipes/hub' },
];
