/** What the names of variables stand for while something is asked. */

/** What is chosen of one variable. */
export interface VariableValue {
  readonly values: readonly string[];
  /** What is shown for each value; without it the values. */
  readonly titles?: readonly string[] | undefined;
  /** Whether several values may be chosen: in regular expressions each of them is then a text, and else it is an expression itself. */
  readonly isList: boolean;
  /** Whether its author wrote the value for All: it is taken as it is. */
  readonly isWritten?: boolean | undefined;
  /** Whether it is all that there is, so that a condition need not list it. */
  readonly isEvery?: boolean | undefined;
}

export type Scope = ReadonlyMap<string, VariableValue>;

/** A variable with one value, such as those of the platform. */
export const single = (value: string): VariableValue => ({ values: [value], isList: false });
