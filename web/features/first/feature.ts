// Exports the parts of the feature first that the rest of the page uses.

export { Closing } from './closing.tsx';
export { default as firstStyles } from './first.css';
export { FirstPanel } from './firstPanel.tsx';
export { FirstSentence } from './firstSentence.tsx';
