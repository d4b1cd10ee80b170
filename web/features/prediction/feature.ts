// Exports the parts of the feature prediction that the rest of the page uses.

export { Prediction } from './prediction.tsx';
