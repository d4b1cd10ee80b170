// The story in Chromium, followed to its end in Chinese with the dark theme.

import assert from 'node:assert/strict';
import test from 'node:test';
import { keyboard, mouse, PHONE, SCREEN } from '../../../support/hands.js';
import { faults, openEmpty, page, server } from '../../../support/page.js';
import { follow, settled } from '../../../support/story.js';

for (const [hand, screen, size] of /** @type {const} */ ([
  [mouse, SCREEN, 'a screen'],
  [keyboard, PHONE, 'a phone'],
]))
  test(`in Chinese, dark theme: the story is followed to its end with the ${hand.name} on ${size}`, async () => {
    await openEmpty({ ...screen, colorScheme: 'dark', locale: 'zh-CN' });
    await page.goto(server.url);
    await settled();
    await follow(hand);
    assert.deepEqual(faults, []);
  });
