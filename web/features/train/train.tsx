// Training, as one module that is loaded when training is first opened. The task is above the model, the sequence
// replaces the prompt, the charts are in the reading column, and the film is under the picture.

export { Film } from './film.tsx';
export { Lesson } from './lesson.tsx';
export { Probe, TrainNote } from './probe.tsx';
export { Charts, ShortCharts } from './progress.tsx';
export { default as styles } from './train.css';
export { TrainBar } from './trainBar.tsx';
