// The texts of the story that the rest of the page shows, in English.

export const story = {
  name: 'Story',
  open: 'Open the story',
  leave: 'Leave the story',
  points: (points: number) => `${points} percentage ${Math.abs(points) === 1 ? 'point' : 'points'}`,
  cost: 'Change of the guess when this head is off, in percentage points',
};
