// Which roles of heads are told.

import { isTold } from './steps.js';

/** In the story heads are named once they are found. */
export function shownTrade(session, layer, head) {
  const { panel, step } = session.state.value;
  const trade = session.roles.value?.[layer]?.[head];
  return panel === 'story' && !isTold(step, session.storyLog.value, trade) ? null : trade;
}
