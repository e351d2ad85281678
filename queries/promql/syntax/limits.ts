/** Limits of one expression. Realistic queries do not reach them; they limit the time of parsing. */
export const syntaxLimits = {
  maxCharacters: 100_000,
  /** Characters of a number or duration. */
  maxNumberCharacters: 64,
  /** Matchers of a selector, labels of a grouping, arguments of a function. */
  maxListItems: 256,
  /** Nesting depth, which is also the stack depth of recursive functions over the syntax tree. */
  maxDepth: 500,
  /** Numbers, strings, selectors, calls and operators. */
  maxParts: 5_000,
  /** Total cost of all regular expressions, by `maxRegexCost`. */
  maxRegexCost: 20_000,
} as const;
