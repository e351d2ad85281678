/** A naive implementation of aggregates: the same queries over record views, in plain JavaScript. */
import type { AggregateQuery, Measure } from '../../queries/query.ts';
import type { Range } from '../../queries/range.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import { buildPredicate } from '../../queries/search/predicate.ts';
import { type SearchSignal, signalDefinitions } from '../../queries/signals/index.ts';
import { formatTime } from '../../queries/time.ts';
import {
  type Field,
  getReferenceType,
  type Reference,
  readNestedValues,
  readReference,
  resolveReference,
} from '../../schemas/fields.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import type { Span } from '../../schemas/records/span.ts';

type Figure = number | string | null;
/** Queries of streamed records, without signals of detection rules. */
export type NaiveQuery = AggregateQuery & { readonly signal: SearchSignal };

/** The parts of a record that a query reads, copied before the view moves on. */
export interface Seen {
  readonly timeNs: bigint;
  readonly matches: boolean;
  /** Combinations of its group values. */
  readonly groups: readonly (readonly string[])[];
  readonly measures: readonly { readonly counts: boolean; readonly value: string | undefined }[];
}

const references = (signal: SearchSignal) => (name: string) =>
  resolveReference(signalDefinitions[signal].fields, name) as Reference<RecordView>;

const isNumeric = ({ type }: Field<never>): boolean => ['number', 'time', 'duration'].includes(type);

const textOf = (reference: Reference<RecordView>, record: RecordView): string | undefined => {
  const value = readReference(reference, record);
  if (value === undefined) return undefined;
  if (reference.kind !== 'field') return String(value);
  if (!isNumeric(reference.field)) return value === '' ? undefined : String(value);
  return reference.field.names?.[Number(value)] ?? String(value);
};

/** The distinct texts of a name: a record with an array has several. */
const textsOf = (reference: Reference<RecordView>, record: RecordView): string[] => {
  const text = textOf(reference, record);
  if (reference.kind === 'field') return [text ?? ''];
  const nested = readNestedValues(reference, record).filter(({ path }) => path === reference.key);
  if (nested.length === 0) return [text ?? ''];
  const own = text === undefined || getReferenceType(reference, record) === 'j' ? [] : [text];
  return [...new Set([...own, ...nested.map((each) => each.text)])];
};

const combinationsOf = (lists: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  lists.reduce<readonly (readonly string[])[]>(
    (combinations, list) => combinations.flatMap((combination) => list.map((each) => [...combination, each])),
    [[]],
  );

/** Numeric fields use their number, whatever their name. */
const measuredOf = (
  reference: Reference<RecordView>,
  record: RecordView,
  kind: Measure['function'],
): string | undefined => {
  const isPlain = reference.kind === 'field' && isNumeric(reference.field) && kind !== 'distinct';
  return isPlain ? String(reference.field.read(record)) : textOf(reference, record);
};

export const seenBy = (query: NaiveQuery): ((record: RecordView) => Seen) => {
  const { signal } = query;
  const reference = references(signal);
  const test = (search: string | undefined) =>
    buildPredicate(parseSearch(search ?? '', signal), signal) as (record: RecordView) => boolean;
  const matches = test(query.search);
  const groups = query.groupBy.map(reference);
  const measures = query.measures.map(({ search, field, function: kind }) => ({
    counts: test(search),
    reference: field === undefined ? undefined : reference(field),
    kind,
  }));
  return (record) => ({
    timeNs: (record as LogRecord | Span).timeNs,
    matches: matches(record) && (query.projectId === undefined || record.projectId === query.projectId),
    groups: combinationsOf(groups.map((each) => textsOf(each, record))),
    measures: measures.map((each) => ({
      counts: each.counts(record),
      value: each.reference === undefined ? undefined : measuredOf(each.reference, record, each.kind),
    })),
  });
};

const numbersOf = (values: readonly string[]): number[] =>
  values.filter((text) => /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text))).map(Number);

const percentileOf = (numbers: readonly number[], level: number): number => {
  const sorted = numbers.toSorted((one, other) => one - other);
  const at = (level / 100) * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] as number, sorted[Math.ceil(at)] as number];
  return low + (high - low) * (at - Math.floor(at));
};

const figureOf = (
  { function: kind, field, percentile = 0 }: Measure,
  seen: readonly Seen['measures'][number][],
  seconds: number,
  isTime: boolean,
): Figure => {
  const counted = seen.filter(({ counts, value }) => counts && (field === undefined || value !== undefined));
  const values = counted.map(({ value }) => value as string);
  if (kind === 'count') return counted.length;
  if (kind === 'rate') return counted.length / seconds;
  if (kind === 'distinct') return new Set(values).size;
  if (isTime && values.length > 0) {
    const times = values.map(BigInt).sort((one, other) => (one < other ? -1 : 1));
    return formatTime((kind === 'min' ? times[0] : times.at(-1)) as bigint);
  }
  const numbers = numbersOf(values);
  if (numbers.length === 0) return null;
  const sum = numbers.reduce((one, other) => one + other, 0);
  if (kind === 'sum') return sum;
  if (kind === 'avg') return sum / numbers.length;
  if (kind === 'min') return Math.min(...numbers);
  return kind === 'max' ? Math.max(...numbers) : percentileOf(numbers, percentile);
};

/** Results by group. The key is the JSON of the group values. */
export const naiveAggregate = (
  query: NaiveQuery,
  records: readonly Seen[],
  { from, to }: Range,
  seconds = Number(to - from + 1n) / 1e9,
): Map<string, Figure[]> => {
  const groups = new Map<string, Seen[]>();
  if (query.groupBy.length === 0) groups.set('[]', []);
  for (const record of records) {
    if (!record.matches || record.timeNs < from || record.timeNs > to) continue;
    for (const group of record.groups) {
      const key = JSON.stringify(group);
      groups.set(key, [...(groups.get(key) ?? []), record]);
    }
  }
  const isTime = query.measures.map(({ field }) => {
    const reference = field === undefined ? undefined : references(query.signal)(field);
    return reference?.kind === 'field' && reference.field.type === 'time';
  });
  return new Map(
    [...groups].map(([key, seen]) => [
      key,
      query.measures.map((measure, index) =>
        figureOf(
          measure,
          seen.map(({ measures }) => measures[index] as Seen['measures'][number]),
          seconds,
          isTime[index] ?? false,
        ),
      ),
    ]),
  );
};
