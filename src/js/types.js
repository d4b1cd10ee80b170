// Empty at run time: types.d.ts re-exports the public types.

export {};
