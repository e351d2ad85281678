/** Values of variables during a query. */

/** Selection of one variable. */
export interface VariableValue {
  readonly values: readonly string[];
  /** Display titles of the values; by default the values. */
  readonly titles?: readonly string[] | undefined;
  /**
   * Whether several values may be selected. If so, each value in a regular expression is escaped text; otherwise, the
   * value itself is a regular expression.
   */
  readonly isList: boolean;
  /** Whether the author defined the value for All, which is used unchanged. */
  readonly isDefinedByAuthor?: boolean | undefined;
  /** Whether it includes all values, so that a condition need not list them. */
  readonly includesEveryValue?: boolean | undefined;
}

export type Scope = ReadonlyMap<string, VariableValue>;

/** Returns a variable with one value, such as a built-in one. */
export const toSingleValue = (value: string): VariableValue => ({ values: [value], isList: false });
