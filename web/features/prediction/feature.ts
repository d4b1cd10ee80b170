// What the rest of the page uses of the feature prediction.

export { Prediction } from './prediction.tsx';
