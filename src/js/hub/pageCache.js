// not yet
/** @param {string} _caller @param {unknown} _cache */
export const openPageCache = async (_caller, _cache) => 'not yet';
