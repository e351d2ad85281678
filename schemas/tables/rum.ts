import {
  frequentInsertSettings,
  identityKeySettings,
  landedPosition,
  mergedPartitionSettings,
  nanosecondType,
  ordinal,
  partitionByDayReceived,
  tenancy,
} from './parts.ts';
import { defineTable, type MaterializedView } from './table.ts';

const text = 'String CODEC(ZSTD(1))';
const name = 'LowCardinality(String)';
const sortingKey = ['tenant_id', 'kind', 'toStartOfHour(timestamp)', 'service'] as const;

/** One row per event of a page. Rows of one kind, such as vitals, are adjacent within an hour. */
export const rumEventsTable = defineTable({
  name: 'rum_events',
  summary: 'Events of browsers, one row each',
  retention: 'logs',
  columns: {
    ...tenancy,
    timestamp: nanosecondType,
    /** The application. */
    service: name,
    environment: name,
    release: name,
    kind: name,
    name,
    session_id: text,
    view_id: text,
    page: name,
    route: name,
    url: text,
    referrer: text,
    user_id: text,
    value: 'Nullable(Float64) CODEC(ZSTD(1))',
    rating: name,
    navigation_type: name,
    event_id: text,
    element: text,
    element_text: text,
    duration_ms: 'Nullable(Float64) CODEC(ZSTD(1))',
    phases: `Map(LowCardinality(String), Float64) CODEC(ZSTD(1))`,
    target: text,
    resource_type: name,
    host: name,
    /** `first`, `third`, or empty if unknown. */
    party: name,
    bytes: 'Nullable(UInt64) CODEC(ZSTD(1))',
    /** `true`, `false`, or empty if unknown; so are the two below. */
    cached: name,
    blocking: name,
    handled: name,
    method: name,
    status: 'UInt16',
    message: text,
    error_type: name,
    stack: 'String CODEC(ZSTD(3))',
    fingerprint: name,
    trace_id: text,
    span_id: text,
    record_id: text,
    device: name,
    browser: name,
    browser_version: name,
    os: name,
    os_version: name,
    country: name,
    sdk: name,
    sdk_version: name,
    sampling: 'Nullable(Float64)',
    attributes: 'Map(LowCardinality(String), String) CODEC(ZSTD(1))',
    ...ordinal,
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  primaryKey: sortingKey,
  orderBy: [...sortingKey, 'timestamp'],
  indexes: {
    session: 'session_id TYPE bloom_filter(0.01) GRANULARITY 1',
    rum_trace: 'trace_id TYPE bloom_filter(0.01) GRANULARITY 1',
  },
  settings: frequentInsertSettings,
});

/** Milliseconds since 1970 at which a document was loaded, in the ids of the package web-vitals; 0 in other ids. */
const loadedMs = "toInt64(toUInt64OrZero(extract(event_id, '^v[0-9]+-([0-9]{13})-')))";
/** Clocks of visitors differ. Without this limit, ids could create any number of partitions. */
const maxClockDifferenceMs = 7 * 86_400_000;

/**
 * Web vitals, one row each: of the reports of a vital, the last one counts. Read with FINAL. A view fills the table, so
 * that percentiles of months read few columns, and need not find the last report of each vital.
 *
 * All reports of a vital have the same `day`, also across midnight: the day on which its document was loaded, or 1970 if
 * the id does not have it. So reads merge the rows of a day only with each other, and not at all once they are one part.
 */
export const rumVitalsTable = defineTable({
  name: 'rum_vitals',
  summary: 'Web vitals of browsers, with the last value of each',
  retention: 'logs',
  ageColumn: 'received_day',
  engine: 'ReplacingMergeTree(version)',
  columns: {
    ...tenancy,
    received_day: "DateTime('UTC')",
    day: "DateTime('UTC')",
    /** Hash of the session and the id of the vital; of the position of a report without an id. */
    vital_key: 'UInt64',
    /** Nanoseconds of the report. */
    version: 'UInt64 CODEC(Delta, ZSTD(1))',
    timestamp: nanosecondType,
    name,
    value: 'Float64 CODEC(ZSTD(1))',
    service: name,
    environment: name,
    release: name,
    page: name,
    device: name,
    browser: name,
    os: name,
    country: name,
  },
  partitionBy: 'toYYYYMMDD(day)',
  orderBy: ['tenant_id', 'day', 'vital_key'],
  settings: { ...identityKeySettings, ...mergedPartitionSettings },
});

export const rumVitalsView: MaterializedView = {
  name: 'rum_vitals_view',
  from: 'rum_events',
  to: 'rum_vitals',
  select: `SELECT tenant_id, project_id, toDateTime(toStartOfDay(received_at), 'UTC') AS received_day,
  multiIf(event_id = '', received_day, abs(${loadedMs} - toUnixTimestamp64Milli(received_at)) < ${maxClockDifferenceMs}, toDateTime(toStartOfDay(fromUnixTimestamp64Milli(${loadedMs}, 'UTC')), 'UTC'), toDateTime(0, 'UTC')) AS day,
  if(event_id = '', cityHash64(partition, offset, ordinal, timestamp), cityHash64(service, session_id, toString(name), event_id)) AS vital_key,
  toUInt64(toUnixTimestamp64Nano(timestamp)) AS version, timestamp, name, assumeNotNull(value) AS value,
  service, environment, release, page, device, browser, os, country
FROM rum_events WHERE kind = 'vital' AND isNotNull(value)`,
  backfillColumns: [
    'tenant_id',
    'project_id',
    'received_day',
    'day',
    'vital_key',
    'version',
    'timestamp',
    'name',
    'value',
    'service',
    'environment',
    'release',
    'page',
    'device',
    'browser',
    'os',
    'country',
  ],
};

/** Sessions by hour of their events. Rows merge; read with GROUP BY the session. A view fills the table. */
export const rumSessionsTable = defineTable({
  name: 'rum_sessions',
  summary: 'Sessions of browsers by hour, with counts and device',
  retention: 'logs',
  ageColumn: 'received_day',
  engine: 'AggregatingMergeTree',
  columns: {
    ...tenancy,
    hour: "DateTime('UTC')",
    received_day: "DateTime('UTC')",
    service: name,
    session_id: 'String',
    environment: name,
    release: name,
    first_seen: "SimpleAggregateFunction(min, DateTime64(9, 'UTC'))",
    last_seen: "SimpleAggregateFunction(max, DateTime64(9, 'UTC'))",
    events: 'SimpleAggregateFunction(sum, UInt64)',
    views: 'SimpleAggregateFunction(sum, UInt64)',
    actions: 'SimpleAggregateFunction(sum, UInt64)',
    errors: 'SimpleAggregateFunction(sum, UInt64)',
    frustrations: 'SimpleAggregateFunction(sum, UInt64)',
    resources: 'SimpleAggregateFunction(sum, UInt64)',
    ends: 'SimpleAggregateFunction(sum, UInt64)',
    user_id: 'SimpleAggregateFunction(max, String)',
    device: 'SimpleAggregateFunction(max, String)',
    browser: 'SimpleAggregateFunction(max, String)',
    browser_version: 'SimpleAggregateFunction(max, String)',
    os: 'SimpleAggregateFunction(max, String)',
    os_version: 'SimpleAggregateFunction(max, String)',
    country: 'SimpleAggregateFunction(max, String)',
    sdk: 'SimpleAggregateFunction(max, String)',
    sdk_version: 'SimpleAggregateFunction(max, String)',
    sampling: 'SimpleAggregateFunction(max, Nullable(Float64))',
    pages: 'SimpleAggregateFunction(groupUniqArrayArray, Array(String))',
    /** Time and page group of the first view; `~` without a view. Of the last view; empty without one. */
    entry: 'SimpleAggregateFunction(min, String)',
    exit: 'SimpleAggregateFunction(max, String)',
  },
  partitionBy: 'toYYYYMMDD(received_day)',
  primaryKey: ['tenant_id', 'hour', 'service'],
  orderBy: ['tenant_id', 'hour', 'service', 'session_id', 'received_day', 'environment', 'release', 'project_id'],
  settings: identityKeySettings,
});

export const rumSessionsView: MaterializedView = {
  name: 'rum_sessions_view',
  from: 'rum_events',
  to: 'rum_sessions',
  select: `SELECT tenant_id, project_id, toDateTime(toStartOfHour(timestamp), 'UTC') AS hour, toDateTime(toStartOfDay(received_at), 'UTC') AS received_day,
  service, session_id, environment, release, min(timestamp) AS first_seen, max(timestamp) AS last_seen,
  count() AS events, countIf(kind = 'view') AS views, countIf(kind = 'action') AS actions, countIf(kind = 'error') AS errors,
  countIf(kind = 'frustration') AS frustrations, countIf(kind IN ('resource', 'request')) AS resources,
  countIf(kind = 'session' AND name = 'end') AS ends,
  max(user_id) AS user_id, max(device) AS device, max(browser) AS browser, max(browser_version) AS browser_version,
  max(os) AS os, max(os_version) AS os_version, max(country) AS country, max(sdk) AS sdk, max(sdk_version) AS sdk_version,
  max(sampling) AS sampling, groupUniqArrayIf(page, kind = 'view' AND page != '') AS pages,
  if(countIf(kind = 'view') = 0, '~', minIf(concat(toString(timestamp), ' ', page), kind = 'view')) AS entry,
  maxIf(concat(toString(timestamp), ' ', page), kind = 'view') AS exit
FROM rum_events WHERE session_id != ''
GROUP BY tenant_id, project_id, hour, received_day, service, session_id, environment, release`,
};
