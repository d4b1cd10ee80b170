// The entry headlight-attention/analysis for Node, which also reads files on disk.

import type { ModelFiles, OpenPath } from '../models/checkpoint/files.ts';
import { type HeadvisOptions, type HeadvisScan, readTree } from './headvis/headvisReader.ts';

export * from './analysis.ts';

const openPath: OpenPath = async (...given) => (await import('../models/checkpoint/disk.ts')).openPath(...given);

/**
 * Reads the files that writeHeadvis or the HeadVis page's own tools write: a folder (a path or a URL), or files by
 * name.
 */
export const readHeadvis = (files: ModelFiles, options?: HeadvisOptions): Promise<HeadvisScan> =>
  readTree(files, options, openPath);
