// Tests the CSV file with the edges of a circuit.

import assert from 'node:assert/strict';
import test from 'node:test';
import { texts } from '../../../../web/features/circuit/circuit.en.ts';
import { circuitCsv } from '../../../../web/features/circuit/circuitFile.ts';

const line = (name, from, to, value, both) => ({ name, from, to, value, both, terms: [] });
const circuit = {
  begun: { answers: ['mate', '=man'], whole: { value: 9.5, both: [0.9, 0.1] } },
  work: { stage: 'done', done: 1, total: 1, left: null },
  lines: [
    line('m1-l', { kind: 'mlp', layer: 1 }, { kind: 'logits' }, 9, [0.875, 0.125]),
    line('h3.3-k4.2', { kind: 'head', layer: 3, head: 3 }, { kind: 'key', layer: 4, head: 2 }, -2, [0.25, 0.5]),
    line('e-h', { kind: 'embed' }, { kind: 'value', layer: 4, head: 2 }, 9.25, [0.9, 0.1]),
  ],
  needed: [],
  points: [
    { count: 2, random: false, kept: 0.75, value: 0, both: [] },
    { count: 2, random: true, kept: 0.125, value: 0, both: [] },
  ],
  cuts: null,
};

test('the line with the largest loss is first, after the whole model; the share is that of the strongest lines', () => {
  assert.deepEqual(circuitCsv(circuit, texts).split('\r\n'), [
    'rank,line,from,to,measure,p(mate),p(=man),points,kept',
    ',none,,,9.5,0.9,0.1,0,1',
    '1,h3.3-k4.2,3.3,key of 4.2,-2,0.25,0.5,-65,',
    '2,m1-l,feed-forward 1,the guess,9,0.875,0.125,-2.5,0.75',
    '3,e-h,embedding,value of 4.2,9.25,0.9,0.1,0,',
    '',
  ]);
});
