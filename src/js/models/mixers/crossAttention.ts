// Attention to the output of an encoder.

import type { Component } from '../component.ts';
import { attendAcross } from './attendHeads.ts';
import { attentionLayer } from './attention.ts';

export const crossAttention: Component = {
  name: 'crossAttention',
  parameters: (at, options) => [attentionLayer(`${at}.cross`, options, options.encoder?.dModel)],
  forward(run, at, i, x) {
    const query = run.linear(at('cross.wq'), x, at('cross.bq'));
    const heads = attendAcross(run, at('cross.'), i, query, run.crossKeysValues(i, at('cross')));
    return run.linear(at('cross.wo'), heads, at('cross.bo'));
  },
};
