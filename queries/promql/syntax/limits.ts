/** Limits of one expression. They exceed realistic queries, and bound the time of parsing. */
export const syntaxLimits = {
  characters: 100_000,
  /** Characters of a number or duration. */
  numberCharacters: 64,
  /** Matchers of a selector, labels of a grouping, arguments of a function. */
  listed: 256,
  /** Nesting depth, which is also the stack depth of recursive readers of the tree. */
  depth: 500,
  /** Numbers, strings, selectors, calls and operators. */
  parts: 5_000,
  /** Total cost of all regular expressions, by `regexCost`. */
  regexCost: 20_000,
} as const;
