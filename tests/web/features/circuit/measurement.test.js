// Tests when the effects of edges are measured: once for each sentence and for each value that cut edges carry, and
// only while the circuit is shown.

import assert from 'node:assert/strict';
import test from 'node:test';
import { signal } from '@preact/signals';
import { change, initialState } from '../../../../web/model/state.ts';
import { createMeasurement } from '../../../../web/store/measured/circuitMeasurement.ts';

const CUT = '3.3-4.2.k';
const circuit = (patch = {}) => ({ carries: 'usual', keep: null, cut: [], ...patch });
const withCircuit = (patch, more = {}) => ({
  ...change(initialState, { view: 'flow' }),
  circuit: circuit(patch),
  ...more,
});

function start() {
  const asked = [];
  const [state, shown] = [signal(initialState), signal(null)];
  const measurement = createMeasurement({
    requests: {
      send: ({ verb, lines }) => asked.push(lines ? [verb, ...lines] : [verb]),
      cancel: (verb) => asked.push(['cancel', verb]),
    },
    state,
    shown,
    show: (circuit) => (shown.value = circuit),
    point() {},
  });
  /** Returns the requests that a state causes. */
  const follow = (now) => {
    state.value = now;
    measurement.follow(now);
    return asked.splice(0);
  };
  return { measurement, shown, follow, since: () => asked.splice(0) };
}
const line = (name, loss) => ({ name, loss, points: loss });

test('a sentence is measured once; leaving the circuit stops the measurement', () => {
  const { measurement, follow, since } = start();
  assert.deepEqual(follow(initialState), []);
  assert.deepEqual(follow(withCircuit()), [['circuit']]);
  assert.deepEqual(follow(withCircuit({ keep: 5 })), [], 'the number of lines changes no value');
  assert.deepEqual(follow(withCircuit({}, { text: 'At sea' })), [['circuit']]);
  assert.deepEqual(follow(withCircuit({ carries: 'zero' }, { text: 'At sea' })), [['circuit']]);
  const stopped = [
    ['cancel', 'circuit'],
    ['cancel', 'circuitCut'],
  ];
  assert.deepEqual(follow(initialState), stopped);
  assert.deepEqual(follow(initialState), [], 'nothing is left to stop');
  assert.deepEqual(follow(withCircuit()), [['circuit']]);
  measurement.stop();
  assert.deepEqual(since(), stopped);
  measurement.again();
  assert.deepEqual(since(), [['circuit']]);
});

test('cuts are measured when the lines are known, again at the end, and once each', () => {
  const { measurement, shown, follow, since } = start();
  follow(withCircuit({ cut: [CUT] }));
  assert.deepEqual(since(), []);
  measurement.receive({ begun: {} });
  assert.deepEqual(since(), [['circuitCut']], 'no line is known yet');
  measurement.receive({ work: { stage: 'lines' }, lines: [line('a', 1)] });
  measurement.receive({ work: { stage: 'lines' }, lines: [line('b', 2)], points: [{ count: 1 }] });
  assert.deepEqual([since(), shown.value.lines.length, shown.value.points.length], [[], 2, 1]);
  measurement.receive({ work: { stage: 'done' } });
  const [[verb, ...names], ...rest] = since();
  assert.deepEqual([verb, names.toSorted(), rest], ['circuitCut', ['a', 'b'], []]);
  measurement.receive({ cuts: { lost: 3 } });
  assert.deepEqual([follow(withCircuit({ cut: [CUT] })), shown.value.cuts], [[], { lost: 3 }]);
  assert.deepEqual(follow(withCircuit()), [['cancel', 'circuitCut']]);
  assert.equal(shown.value.cuts, null);
  measurement.receive({ begun: { problem: { code: 'length' } } });
  assert.deepEqual(follow(withCircuit({ cut: [CUT] })), [], 'there is no circuit');
});
