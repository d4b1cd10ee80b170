// Runs the computation in a page, and shows a heatmap, which needs no worker, and all heads of the demo model, which
// need a worker.

import { mount } from 'headlight-attention/view';
import { compute } from './compute.js';

async function show() {
  const element = () => document.body.appendChild(document.createElement('div'));
  const attentions = [
    [1, 0, 0],
    [0.2, 0.8, 0],
    [0.1, 0.6, 0.3],
  ];
  const views = [{ attentions, view: 'head' }, { view: 'heads' }].map((options) => mount(element(), options));
  await Promise.all(views.map((view) => view.ready));
  const roots = [...document.querySelectorAll('body > div > div')].map(({ shadowRoot }) => shadowRoot).filter(Boolean);
  return roots.map((root, i) => root.querySelectorAll(i === 0 ? '.figure' : '.thumbnail').length);
}

const view = show();
const said = await compute();
document.body.dataset.said = JSON.stringify({ ...said, view: await view });
