// Tests the settings of a circuit in the address, and the identifiers of edges.

import assert from 'node:assert/strict';
import test from 'node:test';
import { edgeGraph } from 'headlight-attention/analysis';
import { lineName } from '../../../../web/model/circuit/lineNames.ts';
import { isCircuit, readCircuit, usualCircuit, writeCircuit } from '../../../../web/model/circuit/settings.ts';
import { change, initialState } from '../../../../web/model/state.ts';
import { readAddress, writeAddress } from '../../../../web/store/address.ts';
import { kindOf } from '../../../../web/store/browserHistory.ts';

test('settings are written into the address and read back', () => {
  for (const circuit of [
    usualCircuit,
    { carries: 'zero', lines: 12, cut: [] },
    { carries: null, lines: null, cut: ['h3.3-k4.2', 'e-v0.1', 'm0-m3', 'h4.2-l'] },
  ]) {
    assert.ok(isCircuit(circuit));
    assert.deepEqual(readCircuit(writeCircuit(circuit)), circuit);
    const state = change(initialState, { view: 'flow', circuit });
    assert.deepEqual(readAddress(writeAddress(state)), state);
  }
  for (const wrong of ['', 'other_0', 'other_65', 'other_1.5', 'one_1', 'zero__h3.3', 'zero__k4.2-h3.3', 'zero__<b>'])
    assert.equal(isCircuit(readCircuit(wrong)), false, wrong);
});

test('each line of a model has a name of its own that an address accepts', () => {
  const { sources, targets, edges } = edgeGraph({ options: { layers: 3, dModel: 8, numHeads: 12, kvHeads: 3 } });
  const names = new Set();
  sources.forEach((from, u) => {
    targets.forEach((to, v) => {
      if (edges.data[u * targets.length + v] === 1) names.add(lineName(from, to));
    });
  });
  assert.equal(
    names.size,
    edges.data.reduce((sum, x) => sum + x),
  );
  for (const name of names) assert.ok(isCircuit({ ...usualCircuit, cut: [name] }), name);
});

test('the circuit is a page of its own for Back, a cut is a change, and the number of lines is neither', () => {
  const flow = change(initialState, { view: 'flow' });
  const circuit = change(flow, { circuit: usualCircuit });
  assert.equal(kindOf(flow, circuit), 'page');
  assert.equal(kindOf(circuit, change(circuit, { circuit: { ...usualCircuit, cut: ['h3.3-k4.2'] } })), 'change');
  assert.equal(kindOf(circuit, change(circuit, { circuit: { ...usualCircuit, carries: 'zero' } })), 'change');
  assert.equal(kindOf(circuit, change(circuit, { circuit: { ...usualCircuit, lines: 3 } })), null);
});

test('another model has no lines of the one before', () => {
  const circuit = { carries: 'zero', lines: 3, cut: ['h3.3-k4.2'] };
  const state = change(change(initialState, { view: 'flow', circuit }), { model: 'constructed' });
  assert.deepEqual(state.circuit, usualCircuit);
  assert.equal(change(initialState, { model: 'constructed' }).circuit, null);
});
