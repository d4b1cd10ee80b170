// What the rest of the page uses of the feature first.

export { Closing } from './closing.tsx';
export { default as firstStyles } from './first.css';
export { FirstPanel } from './firstPanel.tsx';
export { FirstSentence } from './firstSentence.tsx';
