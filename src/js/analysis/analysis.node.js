// The entry headlight-attention/analysis for Node: it reads files on disk too.

import { readTree } from './headvisReader.js';

/** @import { HeadvisScan, HeadvisOptions } from './headvisReader.js' */
/** @import { ModelFiles, OpenPath } from '../models/checkpoint/files.js' */

export * from './analysis.js';

/** @type {OpenPath} */
const openPath = async (...given) => (await import('../models/checkpoint/disk.js')).openPath(...given);

/**
 * Reads the files of HeadVis, the atlas of heads, as writeHeadvis writes them.
 * @param {ModelFiles} files a folder, as a path or a URL; or its files by name
 * @param {HeadvisOptions} [options]
 * @returns {Promise<HeadvisScan>}
 */
export const readHeadvis = (files, options) => readTree(files, options, openPath);
