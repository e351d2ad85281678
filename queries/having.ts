/** Conditions on the values of groups. */
import { type ComparisonOperator, compareNumbers } from '../schemas/comparisons.ts';
import type { Having } from './query.ts';

const texts: Readonly<Record<ComparisonOperator, string>> = {
  above: 'above',
  'at-least': 'at least',
  below: 'below',
  'at-most': 'at most',
};
const sqlOperators: Readonly<Record<ComparisonOperator, string>> = {
  above: '>',
  'at-least': '>=',
  below: '<',
  'at-most': '<=',
};

/** Returns whether the value of a group satisfies a condition; every value does without one. */
export const satisfiesHaving = (having: Having | undefined, value: number | undefined): boolean =>
  having === undefined || (value !== undefined && compareNumbers(having.operator, value, having.value));

/** Returns the HAVING clause of a column, whose value is the parameter `having`. */
export const buildHavingClause = ({ operator }: Having, column: string): string =>
  `HAVING ${column} ${sqlOperators[operator]} {having:Float64}`;

/** Describes a condition in words, as the end of a sentence; empty without one. */
export const describeHaving = (having: Having | undefined, formatValue: (value: number) => string = String): string =>
  having === undefined ? '' : `, only ${texts[having.operator]} ${formatValue(having.value)}`;

/** Hint for a result without groups. */
export const havingHint = 'no group has a value that satisfies `having`';
