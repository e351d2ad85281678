/** What one expression may hold. Nobody writes more, and what is bounded is read before it can take long. */
export const syntaxLimits = {
  characters: 100_000,
  /** Characters of a number or duration. */
  numberCharacters: 64,
  /** Conditions of a selector, labels of a grouping, arguments of a function. */
  listed: 256,
  /** Parts within parts: whatever reads the tree goes as deep on the stack. */
  depth: 500,
  /** Numbers, texts, selectors, calls and operators. */
  parts: 5_000,
  /** What all regular expressions cost together, by `regexCost`. */
  regexCost: 20_000,
} as const;
