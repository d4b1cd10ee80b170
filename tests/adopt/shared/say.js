// Reports the results of the computation as soon as the heatmap is displayed. Used by pages in which a component of a
// framework, such as React, shows the heatmap.

import { compute } from './compute.js';

export const shown = {
  attentions: [
    [1, 0, 0],
    [0.2, 0.8, 0],
    [0.1, 0.6, 0.3],
  ],
  tokens: ['The', 'cat', 'sat'],
  view: 'head',
};

const roots = () => [...document.querySelectorAll('*')].map(({ shadowRoot }) => shadowRoot).filter(Boolean);
const figures = () =>
  roots()
    .map((root) => root.querySelectorAll('.figure').length)
    .filter(Boolean);

export async function say() {
  const said = await compute();
  while (!figures().includes(3)) await new Promise((resolve) => setTimeout(resolve, 50));
  document.body.dataset.said = JSON.stringify({ ...said, view: figures() });
}
