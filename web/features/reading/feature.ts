// What the rest of the page uses of the feature reading.

export { default as readingStyles } from './reading.css';
export { Reading, ShortScore, Strip } from './reading.tsx';
