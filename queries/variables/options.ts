/** Builds the options of a variable from query results: filtered by its pattern, in its order, with fixed options. */
import { maxValues, type Variable } from '../../schemas/dashboards/variables.ts';
import { compilePattern } from '../patterns.ts';
import type { Incompleteness } from '../result.ts';

export interface Option {
  readonly value: string;
  readonly title: string;
}

export interface Options {
  readonly options: readonly Option[];
  readonly partial: readonly Incompleteness[];
}

export type QueryVariable = Extract<Variable, { refresh: string }>;

const matchPattern = (texts: readonly string[], { pattern, name }: QueryVariable): Option[] => {
  if (pattern === undefined) return texts.map((text) => ({ value: text, title: text }));
  const compiledPattern = compilePattern(pattern, `variables.${name}.pattern`);
  const valueGroup =
    compiledPattern.groupNumbers.get('value') ?? (compiledPattern.groupNumbers.has('text') ? undefined : 1);
  const titleGroup = compiledPattern.groupNumbers.get('text');
  return texts.flatMap((text) => {
    const match = compiledPattern.find(text);
    if (match === undefined) return [];
    const [entireMatch] = match.groups;
    const title = titleGroup === undefined ? undefined : match.groups[titleGroup];
    const value = valueGroup === undefined ? title : match.groups[valueGroup];
    // An expression without groups only filters.
    const optionValue = value ?? (match.groups.length === 1 ? text : (entireMatch ?? ''));
    return [{ value: optionValue, title: title ?? optionValue }];
  });
};

const naturalCollator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
const findNumber = (text: string): number => Number(/\d+(?:\.\d+)?/.exec(text)?.[0] ?? -1);

const comparators = {
  text: compareTexts,
  caseless: (left: string, right: string) => compareTexts(left.toLowerCase(), right.toLowerCase()),
  number: (left: string, right: string) => findNumber(left) - findNumber(right),
  natural: (left: string, right: string) => naturalCollator.compare(left, right),
} as const;

const sortOptions = (options: readonly Option[], order: QueryVariable['order']): readonly Option[] => {
  if (order === undefined) return options;
  const sign = order.direction === 'ascending' ? 1 : -1;
  return options.toSorted((left, right) => sign * comparators[order.by](left.title, right.title));
};

const removeDuplicates = (options: readonly Option[]): Option[] =>
  [...new Map(options.toReversed().map((option) => [option.value, option])).values()].reverse();

/** Returns the options of query results. */
export const buildOptions = (texts: readonly string[], variable: QueryVariable): Options => {
  const { fixed, order } = variable;
  const matchingOptions = matchPattern(texts, variable);
  const fixedOptions = (fixed?.options ?? []).map(({ value, title = value }) => ({ value, title }));
  const allOptions =
    fixed?.place === 'sorted'
      ? sortOptions([...fixedOptions, ...matchingOptions], order)
      : fixed?.place === 'after'
        ? [...sortOptions(matchingOptions, order), ...fixedOptions]
        : [...fixedOptions, ...sortOptions(matchingOptions, order)];
  return limitOptions(removeDuplicates(allOptions));
};

/** Limits options to the maximum of one variable. */
export const limitOptions = (options: readonly Option[]): Options => ({
  options: options.slice(0, maxValues),
  partial:
    options.length <= maxValues
      ? []
      : [
          {
            code: 'rows',
            message: `the first ${maxValues} of ${options.length} values: narrow them by a pattern or a condition`,
          },
        ],
});
