/**
 * Stores a day of telemetry of `infrastructure-senders.ts`: one minute by the sink's scanner, and the others by SQL.
 */
import type { Columns } from '../../schemas/ports/columns.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { landIn, messageOf, metricsRequest } from '../cases/sink-tables.ts';
import { type Sender, type SentMetric, type Size, sendersOf } from './infrastructure-senders.ts';

const minuteMs = 60_000;
export const dayMinutes = 24 * 60;
const sendersPerRequest = 100;

const metricOf = ({ name, kind, points }: SentMetric, atMs: number): object => {
  const dataPoints = points.map(([labels, asDouble]) => ({
    attributes: attributesOf(labels),
    startTimeUnixNano: '1000000',
    timeUnixNano: `${atMs}000000`,
    asDouble,
  }));
  return kind === 'gauge'
    ? { name, gauge: { dataPoints } }
    : { name, sum: { dataPoints, aggregationTemporality: 2, isMonotonic: kind === 'counter' } };
};

const attributesOf = (labels: Readonly<Record<string, string>>): object[] =>
  Object.entries(labels).map(([key, stringValue]) => ({ key, value: { stringValue } }));

const bodyOf = (senders: readonly Sender[], atMs: number): Uint8Array =>
  metricsRequest({
    resourceMetrics: senders.map(({ resource, metrics }) => ({
      resource: { attributes: attributesOf(resource) },
      scopeMetrics: [{ metrics: metrics.map((metric) => metricOf(metric, atMs)) }],
    })),
  });

/** Stores the first minute, so that series and resources are those of a sink. */
const landFirst = async (columns: Columns, tenantId: string, size: Size, atMs: number): Promise<void> => {
  const senders = sendersOf(size);
  const messages = Array.from({ length: Math.ceil(senders.length / sendersPerRequest) }, (_, offset) => {
    const body = bodyOf(senders.slice(offset * sendersPerRequest, (offset + 1) * sendersPerRequest), atMs);
    const member = {
      length: body.length,
      size: body.length,
      records: 1,
      receivedAtMs: atMs,
      source: '',
      traceparent: '',
    };
    return {
      ...messageOf([body], { offset, tenantId, projectId: 'default', signal: 'metrics', members: [member] }),
      timestampMs: atMs,
    };
  });
  const { rejected } = await landIn(columns)(messages, { sink: 'metrics' });
  if (rejected.length > 0) throw new Error(`a body was refused: ${rejected[0]?.message}`);
};

/** Values that seldom change. */
const isSteady = `match(metric, '(limit|request|allocatable|phase|restarts|ready|desired|available|max|capacity)')`;

/** Samples of further minutes: counters grow, and other values vary around the first. */
const laterSamples = (tenantId: string, fromMs: number, minutes: readonly [first: number, end: number]): string => `
  INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, start_timestamp, flags, value)
  SELECT tenant_id, project_id, fromUnixTimestamp64Milli(toInt64(${fromMs}) + minute * ${minuteMs} + 2000, 'UTC'), partition, offset + minute * 1000, metric, series_id,
    fromUnixTimestamp64Milli(toInt64(${fromMs}) + minute * ${minuteMs}, 'UTC'), start_timestamp, flags,
    multiIf(monotonic, value + (minute + cityHash64(minute, series_id) % 100 / 100) * (1 + series_id % 40), ${isSteady}, value, value * (1 + cityHash64(minute, series_id) % 1000 / 5000))
  FROM (SELECT s.*, k.monotonic FROM samples AS s INNER JOIN (SELECT series_id, any(monotonic) AS monotonic FROM series WHERE tenant_id = ${quoteString(tenantId)} GROUP BY series_id) AS k USING (series_id)
    WHERE tenant_id = ${quoteString(tenantId)} AND timestamp = fromUnixTimestamp64Milli(toInt64(${fromMs}), 'UTC')) AS first
  CROSS JOIN (SELECT toInt64(number) AS minute FROM numbers(${minutes[0]}, ${minutes[1] - minutes[0]})) AS minutes`;

/** Rows of `series`, `resources` and `entities`, as a sink updates them while they have points. */
const seenAgain = (table: string, tenantId: string, atMs: number): string =>
  `INSERT INTO ${table} SELECT * REPLACE (fromUnixTimestamp64Milli(toInt64(${atMs}), 'UTC') AS last_seen) FROM ${table} FINAL WHERE tenant_id = ${quoteString(tenantId)}`;

const hour = 60;

/** Inserts of the day: 15 minutes each, and one minute each in the last hour, as after merges. */
export const insertsOfDay = (): (readonly [first: number, end: number])[] => {
  const lastHour = dayMinutes - hour;
  const quarters = Array.from({ length: lastHour / 15 }, (_, at) => [Math.max(1, at * 15), (at + 1) * 15] as const);
  return [...quarters, ...Array.from({ length: hour }, (_, at) => [lastHour + at, lastHour + at + 1] as const)];
};

/** Stores a day of metrics that ends at `toMs`. */
export const fillMetrics = async (columns: Columns, tenantId: string, size: Size, toMs: number): Promise<void> => {
  const fromMs = toMs - (dayMinutes - 1) * minuteMs;
  await landFirst(columns, tenantId, size, fromMs);
  for (const minutes of insertsOfDay()) {
    await columns.execute(laterSamples(tenantId, fromMs, minutes));
    if (minutes[1] % hour !== 0) continue;
    const atMs = fromMs + (minutes[1] - 1) * minuteMs;
    await columns.execute(seenAgain('series', tenantId, atMs));
    await columns.execute(seenAgain('resources', tenantId, atMs));
  }
};

const spanColumns =
  'received_at, timestamp, duration, tenant_id, project_id, service, name, kind, status_code, attributes, attribute_types, trace_id, span_id';
const timeOf = (fromMs: number, count: number): string =>
  `fromUnixTimestamp64Milli(toInt64(${fromMs}) + intDiv(toInt64(number) * ${dayMinutes * minuteMs}, ${count}), 'UTC')`;

/** Stores spans of databases and of DNS lookups (one in five is a lookup), and the edges of the former. */
export const fillCalls = async (
  columns: Columns,
  tenantId: string,
  { databases }: Size,
  { toMs, spans }: { readonly toMs: number; readonly spans: number },
): Promise<void> => {
  const fromMs = toMs - (dayMinutes - 1) * minuteMs;
  const database = `concat('orders-', leftPad(toString(number % ${databases}), 4, '0'))`;
  const batch = 100_000;
  for (let at = 0; at < spans; at += batch)
    await columns.execute(`INSERT INTO spans (${spanColumns})
      SELECT ${timeOf(fromMs, spans)}, ${timeOf(fromMs, spans)}, 1000000 + cityHash64(number) % 50000000, ${quoteString(tenantId)}, 'default', concat('app-', toString(number % 200)), 'query', 3, if(number % 50 = 0, 2, 0),
        if(number % 5 = 0, map('dns.question.name', concat('name-', toString(number % 300), '.shop.svc'), 'error.type', if(number % 250 = 0, 'NXDOMAIN', '')),
          map('db.system.name', 'postgresql', 'db.namespace', ${database}, 'db.query.text', concat('SELECT * FROM table_', toString(number % 120), ' WHERE id = ', toString(number % 700)))),
        if(number % 5 = 0, 'ss', 'sss'), unhex(leftPad(hex(number + 1), 32, '0')), unhex(leftPad(hex(number + 1), 16, '0'))
      FROM numbers(${at}, ${Math.min(batch, spans - at)})`);
  await columns.execute(`INSERT INTO service_edges (received_at, minute, tenant_id, project_id, server_project_id, connection, client, client_kind, server, server_kind, system, address, requests, errors, timed, duration_sum, duration_max, duration_buckets)
    SELECT fromUnixTimestamp64Milli(toInt64(${fromMs}) + toInt64(m) * ${minuteMs}, 'UTC'), toDateTime(intDiv(${fromMs}, 1000) + m * 60, 'UTC'), ${quoteString(tenantId)}, 'default', 'default', 'query', concat('app-', toString(c)), 'service',
      concat('orders-', leftPad(toString(d), 4, '0')), 'database', 'postgresql', concat('orders-', leftPad(toString(d), 4, '0'), ':5432'), 20, 1, 20, 400000000, 50000000, map(toUInt16(300), toUInt64(20))
    FROM (SELECT number % ${dayMinutes} AS m, intDiv(number, ${dayMinutes}) % 20 AS c, intDiv(number, ${dayMinutes} * 20) AS d FROM numbers(${dayMinutes * 20 * databases}))`);
};

/** Stores records of exported flows and cluster events (one in ten is an event), among those of applications. */
export const fillLogs = async (
  columns: Columns,
  tenantId: string,
  { toMs, logs }: { readonly toMs: number; readonly logs: number },
): Promise<void> => {
  const fromMs = toMs - (dayMinutes - 1) * minuteMs;
  const batch = 100_000;
  const flow = `map('network.flow.type', 'ipfix', 'source.address', concat('10.0.', toString(number % 20), '.', toString(number % 200)), 'source.port', toString(30000 + number % 5000), 'destination.address', concat('10.1.0.', toString(number % 90)),
    'destination.port', '443', 'network.transport', 'tcp', 'network.flow.sampler_address', concat('r', toString(number % 3)), 'network.io.bytes', toString(1000 + number % 9000), 'network.io.packets', '5')`;
  const event = `map('k8s.resource.name', 'events', 'event.domain', 'k8s')`;
  const eventBody = `concat('{"type":"ADDED","object":{"kind":"Event","type":"Warning","reason":"', if(number % 1000 = 0, 'OOMKilling', 'BackOff'), '","message":"back-off","metadata":{"name":"e', toString(number), '","namespace":"team-1","uid":"', toString(number), '"},"involvedObject":{"kind":"Pod","name":"pod-', toString(number % 1500), '","namespace":"team-1","uid":"uid-pod-', leftPad(toString(number % 1500), 4, '0'), '"},"source":{"component":"kubelet","host":"node-0001"},"count":1}}')`;
  for (let at = 0; at < logs; at += batch)
    await columns.execute(`INSERT INTO logs (received_at, timestamp, tenant_id, project_id, service, severity_number, severity_text, body, body_type, attributes, attribute_types, partition, offset, ordinal)
      SELECT ${timeOf(fromMs, logs)}, ${timeOf(fromMs, logs)}, ${quoteString(tenantId)}, 'default', if(number % 10 < 5, concat('app-', toString(number % 200)), ''), 9, 'INFO',
        multiIf(number % 10 = 9, ${eventBody}, number % 10 < 5, concat('request ', toString(number), ' completed in ', toString(number % 900), ' ms'), ''), if(number % 10 = 9, 'j', 's'),
        multiIf(number % 10 = 9, ${event}, number % 10 < 5, map('http.route', '/api'), ${flow}), multiIf(number % 10 = 9, 'ss', number % 10 < 5, 's', 'sssssssss'), 9, number, 0
      FROM numbers(${at}, ${Math.min(batch, logs - at)})`);
};
