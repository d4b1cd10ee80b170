// Tests `npm start`, from the command until its server ends.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../support/wait.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const answers = (url) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`npm start and its server end on ${signal}`, async () => {
    const npm = spawn('npm', ['start', '--', '--no-open', '--port', '0'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [npm.stdout, npm.stderr])
      stream.on('data', (text) => {
        said += text;
      });
    const ended = new Promise((resolve) => npm.on('exit', resolve));
    const url = () => said.match(/Headlight is at (\S+)/)?.[1];
    await Promise.race([until(url, 600_000), ended]);
    assert.ok(url(), said);
    assert.ok(await answers(url()));
    npm.kill(signal);
    await ended;
    await until(async () => !(await answers(url())));
  });
}
