/** Comparisons of numbers with a limit, which queries, transformations of panels and alert rules have in common. */

export const comparisonOperators = ['above', 'at-least', 'below', 'at-most'] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];

/** Returns whether a number satisfies a comparison; NaN satisfies none. */
export const compareNumbers = (operator: ComparisonOperator, value: number, limit: number): boolean => {
  switch (operator) {
    case 'above':
      return value > limit;
    case 'at-least':
      return value >= limit;
    case 'below':
      return value < limit;
    case 'at-most':
      return value <= limit;
  }
};
