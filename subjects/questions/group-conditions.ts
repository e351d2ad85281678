/** Conditions on the values of groups: "hosts above 80 % CPU", "routes with fewer than 10 requests" */
import type { Having } from '../../queries/query.ts';
import { type Draft, UnclearQuestionError } from './assemble.ts';
import type { CatalogueMetric } from './catalogue.ts';
import {
  comparisonsByOperator,
  getBytes,
  getMilliseconds,
  getMultiplier,
  isUnit,
  type Quantity,
} from './conditions.ts';
import type { Target } from './lexicon.ts';
import { createSingleMark, type GroupCondition, type MarkCandidates } from './marks.ts';
import { countMetricWords, type Phrase } from './metric-phrases.ts';
import { matchOperator } from './phrases.ts';
import { countNumberWords, parseNumber } from './quantities.ts';
import { splitNameStems, type Word } from './words.ts';

interface WordsOfTarget {
  readonly words: readonly Word[];
  readonly target: Target;
  /** Words that name the metric; no unit is read from them. */
  readonly phrase: Phrase | undefined;
}

const percentWords: ReadonlySet<string> = new Set(['%', 'percent', 'pct', 'percentage']);
const metricUnitWords: ReadonlySet<string> = new Set([
  'degree',
  'celsius',
  'core',
  'cpu',
  'vcpu',
  'time',
  'euro',
  'dollar',
]);
const timesWords: Readonly<Record<string, number>> = { once: 1, twice: 2 };
const orMore: Readonly<Record<string, Having['operator']>> = {
  more: 'at-least',
  higher: 'at-least',
  above: 'at-least',
  greater: 'at-least',
  less: 'at-most',
  fewer: 'at-most',
  lower: 'at-most',
  below: 'at-most',
};

/** Parses "above 80 %" and "5 or more" as a condition on the values of groups. */
export const parseGroupCondition = (input: WordsOfTarget, position: number): MarkCandidates | undefined => {
  const { words } = input;
  const operatorMatch = matchOperator(words, position);
  const operator = operatorMatch && comparisonsByOperator[operatorMatch.operator];
  if (operatorMatch !== undefined && operator !== undefined) {
    // "From" and "over" begin ranges, too; a comparison has a number.
    const length = operatorMatch.words + countNameWords(input, position + operatorMatch.words);
    const quantity = parseQuantity(input, position + length);
    return quantity && createMark(length + quantity.words, { operator, ...quantity.quantity });
  }
  const quantity = parseQuantity(input, position);
  const [or, more] = quantity === undefined ? [] : words.slice(position + quantity.words);
  const inclusiveOperator = or?.lower === 'or' ? orMore[more?.lower ?? ''] : undefined;
  return quantity && inclusiveOperator
    ? createMark(quantity.words + 2, { operator: inclusiveOperator, ...quantity.quantity })
    : undefined;
};

/** Returns the number of words before a number that repeat the name of the metric: "below a level of 15 %". */
const countNameWords = ({ words, target }: WordsOfTarget, position: number): number => {
  if (target.signal !== 'metrics') return 0;
  const article = /^(?:a|an|the)$/.test(words[position]?.lower ?? '') ? 1 : 0;
  let end = position + article;
  while (countMetricWords(words, end, target.metric) === 1) end++;
  return end > position + article && words[end]?.lower === 'of' ? end + 1 - position : 0;
};

const createMark = (words: number, condition: GroupCondition): MarkCandidates =>
  createSingleMark(words, { is: 'having', condition });

const parseQuantity = (
  { words, target, phrase }: WordsOfTarget,
  position: number,
): { readonly quantity: Quantity; readonly words: number } | undefined => {
  const number = parseScaledNumber(words, position);
  if (number === undefined) return undefined;
  const unitPosition = position + number.words;
  const next = phrase?.position === unitPosition ? undefined : words[unitPosition];
  const unit = number.unit === '' && next !== undefined ? findUnit(next, target) : undefined;
  const writtenUnit = unit ?? number.unit;
  const quantity = { value: number.value, unit: percentWords.has(writtenUnit) ? '%' : writtenUnit };
  // Records have no sizes or durations but those of their fields.
  const isAllowed = target.signal === 'metrics' || quantity.unit === '' || quantity.unit === '%';
  return isAllowed ? { quantity, words: number.words + (unit === undefined ? 0 : 1) } : undefined;
};

/** Parses "80%", "2k" and "2 million": a number with its multiplier, or with the unit that is written to it. */
const parseScaledNumber = (
  words: readonly Word[],
  position: number,
): (Quantity & { readonly words: number }) | undefined => {
  const times = timesWords[words[position]?.lower ?? ''];
  if (times !== undefined) return { value: times, unit: '', words: 1 };
  const number = parseNumber(words[position]);
  if (number === undefined) return undefined;
  const ownMultiplier = getMultiplier(number.unit);
  if (ownMultiplier !== undefined) return { value: number.value * ownMultiplier, unit: '', words: 1 };
  const nextMultiplier = number.unit === '' ? getMultiplier(words[position + 1]?.stem ?? '') : undefined;
  if (nextMultiplier !== undefined) return { value: number.value * nextMultiplier, unit: '', words: 2 };
  return { value: number.value, unit: number.unit, words: countNumberWords(words, position) };
};

/** Returns the unit that a word is. "Messages" are one if the metric counts messages. */
const findUnit = ({ stem, lower }: Word, target: Target): string | undefined => {
  if (percentWords.has(lower)) return lower;
  if (target.signal !== 'metrics') return undefined;
  const { unit } = target.metric;
  return isUnit(stem) || metricUnitWords.has(stem) || splitNameStems(unit).includes(stem) ? stem : undefined;
};

const noGroups = 'the condition on a value has no groups: name what satisfies it, such as "hosts with …" or "by host"';

/** Returns the condition of groups of a metric, in its unit. Throws if the unit does not apply. */
export const toMetricHaving = (
  { having, groupBy, unassignedFields }: Draft,
  metric: CatalogueMetric,
  isCount: boolean,
): Having | undefined => {
  if (having === undefined) return undefined;
  if (groupBy.length + unassignedFields.length === 0) throw new UnclearQuestionError(noGroups);
  const value = convertToUnit(having, isCount ? { ...metric, unit: '' } : metric);
  if (value === undefined)
    throw new UnclearQuestionError(
      `values of ${metric.name} are not in ${having.unit}${metric.unit === '' ? '' : `, but in ${metric.unit}`}: use a number in its unit`,
    );
  return { operator: having.operator, value };
};

const shareName = /(?:utili[sz]ation|ratio|share)$/;

/** Returns the value in the unit of a metric; `undefined` if the unit of the value does not apply. */
const convertToUnit = (
  { value, unit }: GroupCondition,
  { name, unit: writtenUnit }: CatalogueMetric,
): number | undefined => {
  const metricUnit = writtenUnit.toLowerCase().replace(/\/s$/, '') || findUnitInName(name);
  if (unit === '%' || unit === '') return convertShare(value, unit, metricUnit);
  if (!isUnit(unit)) return value;
  const [byteUnit, timeUnit] = [metricUnit.replace(/by(?:tes?)?$/, 'b'), metricUnit.replace(/(?<=\w\w)s$/, '')];
  return (
    divide(value, getBytes(unit), getBytes(byteUnit)) ?? divide(value, getMilliseconds(unit), getMilliseconds(timeUnit))
  );
};

const findUnitInName = (name: string): string => {
  if (shareName.test(name)) return '1';
  const [, unit = ''] = /(?:^|[._])(percent|bytes|seconds|milliseconds)$/.exec(name) ?? [];
  return unit;
};

/** A share is at most 1, so "above 80" is a percentage, too. */
const convertShare = (value: number, unit: string, metricUnit: string): number | undefined => {
  const isShare = metricUnit === '1' || metricUnit === 'ratio';
  if (unit === '') return isShare && value > 1 && value <= 100 ? round(value / 100) : value;
  if (isShare) return round(value / 100);
  return metricUnit === '%' || metricUnit === 'percent' ? value : undefined;
};

const divide = (value: number, size: number | undefined, unitSize: number | undefined): number | undefined =>
  size === undefined || unitSize === undefined ? undefined : round((value * size) / unitSize);

/** Removes the error of binary fractions: 0.07 × 100 is 7. */
const round = (value: number): number => Number(value.toPrecision(12));

/** Returns the condition of groups of records. Throws if there are no groups, or several values. */
export const toRecordsHaving = (
  { having, stepMs }: Draft,
  groupBy: readonly string[],
  measures: readonly { readonly function: string }[],
): Having | undefined => {
  if (having === undefined) return undefined;
  if (groupBy.length === 0) throw new UnclearQuestionError(noGroups);
  if (measures.length > 1)
    throw new UnclearQuestionError('the condition on a value applies to one aggregation: use one');
  if (stepMs !== undefined && measures[0]?.function === 'count')
    throw new UnclearQuestionError(
      'a number per step has no condition: query the number in the range, or "per second"',
    );
  return { operator: having.operator, value: having.value };
};
