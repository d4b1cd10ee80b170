// There is nothing here at run time: types.d.ts lists the types that callers may want to name.

export {};
