// Exports the parts of the feature reading that the rest of the page uses.

export { default as readingStyles } from './reading.css';
export { Reading, ShortScore, Strip } from './reading.tsx';
