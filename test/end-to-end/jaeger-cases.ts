/**
 * Jaeger's storage integration tests as data: 28 traces and 25 queries with the traces that each finds
 * (jaegertracing/jaeger, `internal/storage/integration/fixtures`, Apache-2.0; queries.json of commit 086fb57).
 */
import type { SentSpan } from './landed-spans.ts';

const tags = { sameplacetag1: 'sameplacevalue', sameplacetag2: 123, sameplacetag3: 72.5, sameplacetag4: true };
type Tag = keyof typeof tags;
const attributes = {
  sameplaceattribute1: 'sameplacevalue',
  sameplaceattribute2: 123,
  sameplaceattribute3: 72.5,
  sameplaceattribute4: true,
};

const some = (...numbers: readonly number[]): Partial<typeof tags> =>
  Object.fromEntries(numbers.map((number) => [`sameplacetag${number}`, tags[`sameplacetag${number}` as Tag]]));
const all = [1, 2, 3, 4] as const;

/** A query: service, whether it filters by operation and tags, durations in nanoseconds, and the traces it finds. */
export interface JaegerCase {
  readonly title: string;
  readonly service: string;
  readonly operation: boolean;
  readonly tags: Readonly<Record<string, unknown>>;
  readonly minDurationNs: number;
  readonly maxDurationNs: number;
  /** Start and end of the range, in minutes after the start of the traces' hour. */
  readonly range: readonly [number, number];
  readonly finds: readonly string[];
}

const trace = (id: string | number): string => String(id).padStart(32, '0');
/** Nearly all traces begin in this minute of their hour, and ranges extend an hour around it. */
const minute = 46;

type Places = Partial<Pick<SentSpan, 'attributes' | 'resource' | 'events' | 'links' | 'scope'>>;

/** Title; `o` for the operation, `t` for tags; minimum and maximum duration; duration of the trace; places of tags. */
const rows: readonly (readonly [string, string, number, number, number, Places])[] = [
  ['tags of the span', 't', 0, 0, 5_000, { attributes: some(...all) }],
  ['tags of an event', 't', 0, 0, 5_000, { events: [some(...all), {}] }],
  ['tags of the process', 't', 0, 0, 5_000, { resource: some(...all) }],
  [
    'tags in different places',
    ...(['t', 0, 0, 5_000] as const),
    { resource: some(1), attributes: some(3, 4), events: [some(2), {}] },
  ],
  ['spans of several days', '', 0, 0, 5_000, {}],
  ['an operation', 'o', 0, 0, 5_000, {}],
  ['an operation and a longest duration', 'o', 0, 2_000, 1_000, {}],
  ['an operation and a range of durations', 'o', 4_500, 5_500, 5_000, {}],
  ['a range of durations', '', 4_500, 5_500, 5_000, {}],
  ['a longest duration', '', 0, 1_000, 1_000, {}],
  ['a service', '', 0, 0, 100_000, {}],
  ['tags and an operation', 'ot', 0, 0, 5_000, { resource: some(...all) }],
  ['tags, an operation and a longest duration', 'ot', 0, 2_000, 1_000, { resource: some(...all) }],
  ['tags, an operation and a range of durations', 'ot', 4_500, 5_500, 5_000, { events: [some(...all), {}] }],
  ['tags and a range of durations', 't', 4_500, 5_500, 5_000, { attributes: some(...all) }],
  ['tags and a longest duration', 't', 0, 1_000, 1_000, { resource: some(...all) }],
  [
    'tags in different places and an operation',
    ...(['ot', 0, 0, 5_000] as const),
    { resource: some(1), attributes: some(3), events: [some(2), some(4)] },
  ],
  [
    'tags in different places, an operation and a longest duration',
    ...(['ot', 0, 2_000, 1_000] as const),
    { resource: some(3), attributes: some(1), events: [some(2), some(4)] },
  ],
  [
    'tags in different places, an operation and a range of durations',
    ...(['ot', 4_500, 5_500, 5_000] as const),
    { resource: some(3, 4), attributes: some(1), events: [some(2), {}] },
  ],
  [
    'tags in different places and a range of durations',
    ...(['t', 4_500, 5_500, 5_000] as const),
    { resource: some(3), attributes: some(2, 4), events: [some(1), {}] },
  ],
  [
    'tags in different places and a longest duration',
    ...(['t', 0, 1_000, 1_000] as const),
    { resource: some(3, 4), attributes: some(1), events: [some(2), {}] },
  ],
  ['several traces', '', 0, 0, 100_000, {}],
  [
    'tags, of a scope with name and version',
    ...(['t', 0, 0, 1_000] as const),
    { attributes: some(...all), scope: { name: 'testing-library', version: '1.1.1' } },
  ],
  [
    'attributes of the scope',
    ...(['a', 0, 0, 1_000] as const),
    { attributes: some(1, 2), scope: { name: 'testing-library', version: '1.1.1', attributes } },
  ],
  [
    'attributes of a link',
    ...(['a', 0, 0, 2_000] as const),
    { attributes: some(...all), links: [{ trace: trace('ff'), span: '00000000000000ff', attributes }] },
  ],
];

const numberOf = (index: number): string => String(index + 1).padStart(2, '0');
const service = (index: number): string => `query${numberOf(index)}-service`;
/** The last traces have IDs that differ from their number. */
const traceIdsOf = (index: number): readonly string[] => {
  if (index === 21) return ['221', '222', '223'].map(trace);
  return [trace(index > 21 ? 202 + index : index + 1)];
};

export const jaegerCases: readonly JaegerCase[] = rows.map(([title, options, minDurationNs, maxDurationNs], index) => ({
  title,
  service: service(index),
  operation: options.includes('o'),
  minDurationNs,
  maxDurationNs,
  tags: options.includes('t') ? tags : options.includes('a') ? attributes : {},
  range: index === 4 ? [0, 7] : [minute - 60, minute + 60],
  finds: traceIdsOf(index),
}));

/** Spans of the traces. `hour` is the start of their hour, in nanoseconds since the epoch. */
export const jaegerSpans = (hour: bigint): SentSpan[] => {
  const at = (minutes: number): bigint => hour + BigInt(minutes) * 60_000_000_000n + 31_639_875_000n;
  const spans = rows.flatMap(([, options, , , duration, places], index) =>
    traceIdsOf(index).flatMap((id): SentSpan[] => {
      const name = options.includes('o') || index === 21 ? `query${numberOf(index)}-operation` : 'placeholder';
      const span = { trace: id, span: '0000000000000003', service: service(index), name, duration, kind: 0, ...places };
      if (index !== 4) return [{ ...span, start: at(minute) }];
      return [3, 5].map((minutes) => ({ ...span, span: `000000000000000${minutes}`, start: at(minutes) }));
    }),
  );
  // The example trace has the same ID as that of the eleventh query.
  const example = ['1', '2', '3', '1', '1'].map((number, index) => ({
    trace: trace(11),
    span: `00000000000000e${index}`,
    service: `example-service-${number}`,
    start: at(minute),
    name: `example-operation-${number}`,
    duration: 100_000,
    kind: 0,
  }));
  return [...spans, ...example];
};
