/**
 * A processor sees a record exactly as it is stored: views compared with the rows of sinks, for the same random
 * messages.
 */
import test from 'ava';
import fc from 'fast-check';
import type { Attribute } from '../../schemas/records/attributes.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { readNestedAttributes } from '../../schemas/records/nested-values.ts';
import type { DataPoint } from '../../schemas/records/points.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { iterateItems, type Source } from '../../schemas/records/source.ts';
import { dataPoints, logRecords, spans } from '../../schemas/records/sources.ts';
import type { Span } from '../../schemas/records/span.ts';
import { nestedMarks } from '../../schemas/tables/parts.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { ScanMessage } from '../../sinks/scan/scanner.ts';
import { propertyRuns } from '../budget.ts';
import { messageOf as anyMessageOf, backwards, requestTypes } from './proto/load.ts';
import { messageOf, openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

type Shown = Record<string, unknown>;

const decoded = <View extends RecordView>(
  source: Source<View>,
  messages: readonly ScanMessage[],
  show: (view: View) => Shown,
): Shown[] =>
  messages.flatMap(({ value, ...message }) =>
    Array.from(
      iterateItems(source, { ...message, key: '', value: Buffer.from(value) }, { topic: 'any', partition: 0 }),
      (view) => show(view),
    ),
  );

/** Attributes, and the values inside arrays and maps. */
const attributesOf = (attributes: readonly Attribute[]): Shown => {
  const { values } = readNestedAttributes(attributes.filter(({ type }) => type === 'j'));
  const keys = [...attributes.map(({ key }) => key), ...values.map(({ path }) => path)];
  const hasSeveral = keys.some((key, index) => index >= attributes.length && keys.indexOf(key) < index);
  const mark = values.length === 0 ? '' : nestedMarks[hasSeveral ? 'several' : 'single'];
  return {
    keys,
    texts: [...attributes, ...values].map(({ text }) => text),
    types: [...attributes.map(({ type }) => type), ...values.map(({ type }) => type.toUpperCase()), mark].join(''),
  };
};

/** The first value of each key, which is the one that the engine returns. */
const byKey = (attributes: readonly { readonly key: string; readonly text: string; readonly type: string }[]) => {
  const first = new Map<string, string>();
  for (const { key, text, type } of attributes) if (!first.has(key)) first.set(key, `${type} ${text}`);
  return [...first].sort();
};

const shared = (view: RecordView): Shown => ({
  tenant: view.tenantId,
  project: view.projectId,
  received: view.receivedAtMs,
  offset: view.location.offset,
  service: view.service,
  scope: [view.scope.name, view.scope.version, view.scope.attributesJson, view.scope.droppedAttributes],
  scopeSchema: view.scope.schemaUrl,
});
const sharedColumns = `tenant_id AS tenant, project_id AS project, toUnixTimestamp64Milli(received_at) AS received, toUInt32(offset) AS offset, service,
  [scope_name, scope_version, scope_attributes, toString(scope_dropped_attributes)] AS scope, scope_schema_url AS scopeSchema`;
const attributeColumns = 'mapKeys(attributes) AS keys, mapValues(attributes) AS texts, attribute_types AS types';

/** Numbers that exceed the number range of the engine's JSON are text in it. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, each) => (typeof each === 'object' && each !== null ? each : String(each))));

let runs = 0;
/** Stores random requests, two per message, and passes them to `compare`. */
const forRandom = (
  signal: Signal,
  compare: (tenantId: string, messages: readonly ScanMessage[]) => Promise<void>,
): Promise<void> => {
  const type = requestTypes[signal];
  // Fields can have any order: half of the requests are encoded from the last field to the first.
  const request = fc.tuple(anyMessageOf(type, 7), fc.boolean()).map(([message, isBackwards]) => {
    const bytes = type.encode(type.create(message)).finish();
    return isBackwards ? backwards(type, bytes) : bytes;
  });
  return fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(request, request), { minLength: 1, maxLength: 4 }), async (pairs) => {
      const tenantId = `${signal}-${++runs}`;
      const messages = pairs.map((bodies, offset) => messageOf(bodies, { tenantId, signal, offset }));
      const { rejected } = await tables.land(messages, { sink: signal });
      if (rejected.length > 0) throw new Error(`a sink refuses it: ${rejected[0]?.message}`);
      await compare(tenantId, messages);
    }),
    { numRuns: propertyRuns(40) },
  );
};

const resourceShown = (view: RecordView): Shown => ({
  resource: byKey([...view.resourceAttributes].map(([key, { text, type }]) => ({ key, text, type }))),
});

interface ResourceRow {
  readonly id: string;
  readonly keys: readonly string[];
  readonly texts: readonly string[];
  readonly types: string;
}

/** Rows with the attributes of their resource in place of its id. */
const withResources = async (tenantId: string, rows: readonly (Shown & { resource?: string })[]): Promise<Shown[]> => {
  const found = await tables.read<ResourceRow>(
    `SELECT toString(resource_id) AS id, ${attributeColumns} FROM resources WHERE tenant_id = '${tenantId}'`,
  );
  const resources = new Map(
    found.map(({ id, keys, texts, types }) => [
      id,
      byKey(keys.map((key, at) => ({ key, text: texts[at] ?? '', type: types[at] ?? '' }))),
    ]),
  );
  return rows.map(({ resource = '', ...row }) => ({ ...row, resource: resources.get(resource) }));
};

const logShown = (log: LogRecord): Shown => ({
  ...shared(log),
  ordinal: log.location.ordinal,
  time: log.timeNs,
  timeMs: log.timeMs,
  observed: log.observedTimeNs,
  severity: log.severityNumber,
  severityText: log.severityText,
  event: log.eventName,
  body: log.body,
  bodyType: log.bodyType,
  ...attributesOf(log.attributes),
  dropped: log.droppedAttributes,
  flags: log.flags,
  trace: log.traceId,
  span: log.spanId,
  ...resourceShown(log),
});

/** Ids with only zeros are empty in tables. */
const idColumn = (column: string, bytes: number): string =>
  `if(${column} = toFixedString('', ${bytes}), '', lower(hex(${column})))`;

test('every field of a log record equals the landed column', async (t) => {
  await forRandom('logs', async (tenantId, messages) => {
    const rows = await tables.read<Shown>(
      `SELECT ${sharedColumns}, ordinal, toUnixTimestamp64Nano(timestamp) AS time, intDiv(time, 1000000) AS timeMs,
       toUnixTimestamp64Nano(observed_timestamp) AS observed, severity_number AS severity, severity_text AS severityText, event_name AS event,
       body, body_type AS bodyType, ${attributeColumns}, dropped_attributes AS dropped, flags, ${idColumn('trace_id', 16)} AS trace,
       ${idColumn('span_id', 8)} AS span, toString(resource_id) AS resource
       FROM logs WHERE tenant_id = '${tenantId}' ORDER BY logs.offset, ordinal`,
    );
    const expected = await withResources(tenantId, rows);
    const shown = decoded(logRecords, messages, logShown);
    t.deepEqual(plain(shown), plain(expected));
    t.deepEqual(plain(decoded(logRecords, messages, (log) => logShown(log.copy()))), plain(expected));
  });
});

const spanShown = (span: Span): Shown => ({
  ...shared(span),
  ordinal: span.location.ordinal,
  time: span.timeNs,
  timeMs: span.timeMs,
  duration: span.durationNs,
  trace: span.traceId,
  span: span.spanId,
  parent: span.parentSpanId,
  state: span.traceState,
  flags: span.flags,
  name: span.name,
  kind: span.kind,
  status: [span.statusCode, span.statusMessage],
  dropped: [span.droppedAttributes, span.droppedEvents, span.droppedLinks],
  ...attributesOf(span.attributes),
  events: span.events.map(({ timeNs, name, attributes }) => [timeNs, name, attributesOf(attributes)['texts']]),
  eventsDropped: span.events.map(({ droppedAttributes }) => droppedAttributes),
  links: span.links.map(({ traceId, spanId, traceState, attributes }) => [
    traceId,
    spanId,
    traceState,
    attributesOf(attributes)['types'],
  ]),
  linksFlags: span.links.map(({ flags }) => flags),
  ...resourceShown(span),
});

test('every field of a span equals the landed column', async (t) => {
  await forRandom('traces', async (tenantId, messages) => {
    const rows = await tables.read<
      Shown & { eventsDropped: unknown[]; events: unknown[]; linksFlags: unknown[]; links: unknown[] }
    >(
      `SELECT ${sharedColumns}, ordinal, toUnixTimestamp64Nano(timestamp) AS time, intDiv(time, 1000000) AS timeMs, duration,
       ${idColumn('trace_id', 16)} AS trace, ${idColumn('span_id', 8)} AS span, ${idColumn('parent_span_id', 8)} AS parent,
       trace_state AS state, flags, name, kind, [toString(status_code), status_message] AS status,
       [dropped_attributes, dropped_events, dropped_links] AS dropped, ${attributeColumns},
       arrayMap((at, n, a) -> (toString(toUnixTimestamp64Nano(at)), n, mapValues(a)), event_timestamps, event_names, event_attributes) AS events,
       event_dropped_attributes AS eventsDropped,
       arrayMap((t, s, state, types) -> (${idColumn('t', 16)}, ${idColumn('s', 8)}, state, types), link_trace_ids, link_span_ids, link_trace_states, link_attribute_types) AS links,
       link_flags AS linksFlags, toString(resource_id) AS resource
       FROM spans WHERE tenant_id = '${tenantId}' ORDER BY spans.offset, ordinal`,
    );
    const filled = rows.map((row) => ({
      ...row,
      eventsDropped: row.eventsDropped.length > 0 ? row.eventsDropped : row.events.map(() => 0),
      linksFlags: row.linksFlags.length > 0 ? row.linksFlags : row.links.map(() => 0),
    }));
    const expected = await withResources(tenantId, filled);
    t.deepEqual(plain(decoded(spans, messages, spanShown)), plain(expected));
    t.deepEqual(plain(decoded(spans, messages, (span) => spanShown(span.copy()))), plain(expected));
  });
});

const bits = new DataView(new ArrayBuffer(8));
/** A double as the integer of its bits; all NaN values are equal. */
const bitsOf = (value: number | undefined): string | null => {
  if (value === undefined) return null;
  if (Number.isNaN(value)) return 'nan';
  bits.setFloat64(0, value);
  return String(bits.getBigUint64(0));
};
const bitsColumn = (column: string): string =>
  `if(isNaN(${column}), 'nan', toString(reinterpretAsUInt64(assumeNotNull(${column}))))`;
const optionalBits = (column: string): string => `if(isNull(${column}), NULL, ${bitsColumn(column)})`;

const pointShown = (point: DataPoint): Shown => ({
  offset: point.location.offset,
  received: point.receivedAtMs,
  metric: point.metric.name,
  kind: point.kind,
  about: [point.metric.unit, point.metric.temporality, point.metric.monotonic],
  service: point.service,
  scope: [point.scope.name, point.scope.version],
  attributes: attributesSorted(point.attributes),
  time: point.timeNs,
  start: point.startTimeNs,
  flags: point.flags,
  ...valueShown(point),
});

const attributesSorted = (attributes: readonly Attribute[]): string[] =>
  attributes
    .map(({ key, text, type }) => `${key} ${type} ${text}`)
    // The engine sorts by bytes.
    .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));

const valueShown = (point: DataPoint): Shown => {
  if (point.value !== undefined) return { value: bitsOf(point.value) };
  if (point.kind === 'summary') {
    const quantiles = point.quantiles.map(({ quantile, value }) => [bitsOf(quantile), bitsOf(value)]);
    return { count: point.count, sum: bitsOf(point.sum), quantiles };
  }
  const { bounds, counts } = point.buckets;
  return {
    count: point.count,
    basics: [bitsOf(point.sum), bitsOf(point.min), bitsOf(point.max)],
    bounds: bounds.map(bitsOf),
    counts,
    exponential: [point.scale, point.zeroCount, bitsOf(point.zeroThreshold)],
    positive: [point.positive.offset, ...point.positive.counts],
    negative: [point.negative.offset, ...point.negative.counts],
  };
};

const seriesColumns = `toUInt32(points.offset) AS offset, toUnixTimestamp64Milli(received_at) AS received, metric, kind,
  [unit, toString(temporality), toString(monotonic)] AS about, service, [scope_name, scope_version] AS scope,
  arraySort(arrayMap((k, v, i) -> concat(k, ' ', substring(attribute_types, i, 1), ' ', v), mapKeys(attributes), mapValues(attributes), arrayEnumerate(mapKeys(attributes)))) AS attributes,
  toUnixTimestamp64Nano(timestamp) AS time, toUnixTimestamp64Nano(start_timestamp) AS start, flags`;
const valueColumns = {
  samples: `${bitsColumn('value')} AS value`,
  summaries: `count, ${bitsColumn('sum')} AS sum, arrayMap((q, v) -> [${bitsColumn('q')}, ${bitsColumn('v')}], quantiles, quantile_values) AS quantiles`,
  histograms: `count, [${optionalBits('sum')}, ${optionalBits('min')}, ${optionalBits('max')}] AS basics,
    arrayMap(x -> ${bitsColumn('x')}, bounds) AS bounds, counts, [toString(scale), toString(zero_count), ${bitsColumn('zero_threshold')}] AS exponential,
    arrayConcat([toString(positive_offset)], arrayMap(x -> toString(x), positive_counts)) AS positive,
    arrayConcat([toString(negative_offset)], arrayMap(x -> toString(x), negative_counts)) AS negative`,
} as const;

/** Point tables have no ordinals: both sides are sorted. */
const sorted = (shown: readonly Shown[]): unknown =>
  shown.map((each) => JSON.stringify(plain(Object.fromEntries(Object.entries(each).sort())))).sort();

test('every field of a data point equals the landed column', async (t) => {
  await forRandom('metrics', async (tenantId, messages) => {
    const rows: Shown[] = [];
    for (const [table, columns] of Object.entries(valueColumns))
      rows.push(
        ...(await tables.read<Shown>(
          `SELECT ${seriesColumns}, ${columns} FROM (SELECT * FROM ${table} WHERE tenant_id = '${tenantId}') AS points
           INNER JOIN (SELECT series_id, any(kind) AS kind, any(unit) AS unit, any(temporality) AS temporality, any(monotonic) AS monotonic, any(service) AS service,
             any(scope_name) AS scope_name, any(scope_version) AS scope_version, any(attributes) AS attributes, any(attribute_types) AS attribute_types
             FROM series WHERE tenant_id = '${tenantId}' GROUP BY series_id) AS about USING series_id`,
        )),
      );
    t.deepEqual(sorted(decoded(dataPoints, messages, pointShown)), sorted(rows));
    t.deepEqual(sorted(decoded(dataPoints, messages, (point) => pointShown(point.copy()))), sorted(rows));
  });
});
