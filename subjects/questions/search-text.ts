/** Describes a search in words, from its tree */
import { QueryError } from '../../queries/errors.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import type { Interval, Search, SearchReference, ValueTest, WordTest } from '../../queries/search/tree.ts';
import type { ReadSignal } from '../../queries/signals/index.ts';
import { severityNames } from '../../schemas/records/severity.ts';

/**
 * Describes the result of a search, such as `service is cart and severity is error or above`. Returns the search itself
 * if it cannot be parsed; empty for a search without conditions.
 */
export const describeSearch = (search: string, signal: ReadSignal): string => {
  try {
    return describeTree(parseSearch(search, signal));
  } catch (error) {
    if (error instanceof QueryError) return search;
    throw error;
  }
};

const describeTree = (search: Search): string => {
  switch (search.is) {
    case 'all':
      return '';
    case 'and':
      return search.parts
        .map((part) => (part.is === 'or' ? `(${describeTree(part)})` : describeTree(part)))
        .join(' and ');
    case 'or':
      return search.parts.map(describeTree).join(' or ');
    case 'not':
      return search.part.is === 'value' && search.part.test.is === 'exists'
        ? `${formatReference(search.part.reference)} does not exist`
        : `not (${describeTree(search.part)})`;
    case 'text':
      return describeWords(search.test);
    case 'value':
      return `${formatReference(search.reference)} ${describeValue(search.test)}`;
    case 'severity':
      return `severity ${describeSeverity(search.interval)}`;
    default:
      return `${search.field.name} ${describeNumber(search.interval, search.field.type, search.field.names)}`;
  }
};

const formatReference = (reference: SearchReference): string => {
  if (reference.kind === 'field') return reference.field.name;
  return reference.kind === 'any' ? reference.key : `${reference.kind}.${reference.key}`;
};

const describeWords = (test: WordTest): string => {
  switch (test.is) {
    case 'words':
      return `the text contains ${test.words.map((word) => `"${word}"`).join(' and ')}`;
    case 'phrase':
      return `the text contains "${test.words.join(' ')}"`;
    case 'literal':
      return `the text contains "${test.text}"`;
    case 'pattern':
      return `a word of the text is like "${test.pieces.join('*')}"`;
    default:
      return `the text matches /${test.regex.source}/`;
  }
};

const describeValue = (test: ValueTest): string => {
  switch (test.is) {
    case 'exists':
      return 'exists';
    case 'equal':
      return `is ${test.text === '' ? 'empty' : test.text}`;
    case 'pattern':
      return `is like "${test.pieces.join('*')}"`;
    case 'regex':
      return `matches /${test.regex.source}/`;
    default:
      return describeInterval(test.interval, String);
  }
};

/** Severities have four numbers each, from 1 to 24. */
const describeSeverity = ({ from, to }: Interval<number>): string => {
  const name = (number: number): string => (severityNames[number] ?? String(number)).toLowerCase();
  const minSeverity = from === undefined ? 1 : from.value + (from.isInclusive ? 0 : 1);
  const maxSeverity = to === undefined ? 24 : to.value - (to.isInclusive ? 0 : 1);
  if (maxSeverity >= 24) return `is ${name(minSeverity)} or above`;
  if (minSeverity <= 1) return `is ${name(maxSeverity)} or below`;
  const isSingleSeverity = maxSeverity === minSeverity || (maxSeverity === minSeverity + 3 && minSeverity % 4 === 1);
  return isSingleSeverity ? `is ${name(minSeverity)}` : `is ${name(minSeverity)} to ${name(maxSeverity)}`;
};

const describeNumber = (interval: Interval<number | bigint>, type: string, names: readonly string[] = []): string => {
  const formatValue = (value: number | bigint): string => {
    if (type === 'duration') return formatDuration(BigInt(value));
    if (type === 'time') return new Date(Number(BigInt(value) / 1_000_000n)).toISOString();
    return names[Number(value)] ?? String(value);
  };
  return describeInterval(interval, formatValue);
};

const describeInterval = <Value extends number | bigint | string>(
  { from, to }: Interval<Value>,
  written: (value: Value) => string,
): string => {
  if (from !== undefined && to !== undefined)
    return from.value === to.value
      ? `is ${written(from.value)}`
      : `is between ${written(from.value)} and ${written(to.value)}`;
  if (from !== undefined) return `is ${from.isInclusive ? 'at least' : 'above'} ${written(from.value)}`;
  return to === undefined ? 'is there' : `is ${to.isInclusive ? 'at most' : 'below'} ${written(to.value)}`;
};

const units: readonly (readonly [ns: bigint, unit: string])[] = [
  [3_600_000_000_000n, 'h'],
  [60_000_000_000n, 'min'],
  [1_000_000_000n, 's'],
  [1_000_000n, 'ms'],
  [1_000n, 'µs'],
];

const formatDuration = (ns: bigint): string => {
  const [size, unit] = units.find(([value]) => ns >= value && ns % value === 0n) ?? [1n, 'ns'];
  return `${ns / size} ${unit}`;
};
