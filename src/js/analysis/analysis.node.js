// The entry headlight-attention/analysis for Node, which also reads files on disk.

import { readTree } from './headvisReader.js';

/** @import { HeadvisScan, HeadvisOptions } from './headvisReader.js' */
/** @import { ModelFiles, OpenPath } from '../models/checkpoint/files.js' */

export * from './analysis.js';

/** @type {OpenPath} */
const openPath = async (...given) => (await import('../models/checkpoint/disk.js')).openPath(...given);

/**
 * Reads the files of HeadVis, a page that shows an atlas of attention heads. writeHeadvis writes such files.
 * @param {ModelFiles} files a folder, as a path or a URL; or its files by name
 * @param {HeadvisOptions} [options]
 * @returns {Promise<HeadvisScan>}
 */
export const readHeadvis = (files, options) => readTree(files, options, openPath);
