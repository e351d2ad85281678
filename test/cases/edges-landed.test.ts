/** Stored service edges compared with SQL over the stored spans. */
import test from 'ava';
import { buildBucketSql } from '../../schemas/tables/durations.ts';
import { flow } from './edges/flow.ts';
import { arrivalsOf, madeUpTraces } from './edges/traces.ts';
import { openTables, type Tables } from './sink-tables.ts';

const attribute = (...keys: string[]): string =>
  keys.reduceRight(
    (rest, key) =>
      rest === '' ? `attributes['${key}']` : `if(attributes['${key}'] != '', attributes['${key}'], ${rest})`,
    '',
  );

/** Spans with attributes that describe the peer. */
const named = `SELECT project_id, service, kind, trace_id, span_id, timestamp, duration, status_code = 2 AS failed, link_trace_ids, link_span_ids,
  if(attributes['zipkin.shared'] = 'true', span_id, parent_span_id) AS caller_id, toUnixTimestamp64Milli(timestamp) AS start_ms, toStartOfMinute(timestamp) AS minute,
  ${attribute('db.system.name', 'db.system')} AS db, ${attribute('server.address', 'net.peer.name')} AS host, ${attribute('server.port', 'net.peer.port')} AS port,
  if(port IN ('', '443'), host, concat(host, ':', port)) AS address, ${attribute('db.namespace', 'db.name')} AS namespace, attributes['peer.service'] AS peer,
  attributes['url.full'] AS url, attributes['messaging.system'] AS broker, ${attribute('messaging.destination.name', 'messaging.destination')} AS queue,
  ${attribute('messaging.operation.type', 'messaging.operation')} AS operation
FROM spans WHERE tenant_id = 'acme'`;

const columns =
  'minute, project_id, server_project_id, connection, client_kind, client, server_kind, server, system, address, via, failed, timed, length, server_length, alone';
type Columns = Readonly<Partial<Record<string, string>>>;
const select = (input: Columns, from: string): string => {
  const defaults: Columns = {
    minute: 'minute',
    project_id: 'project_id',
    server_project_id: 'project_id',
    client_kind: "'service'",
    client: 'service',
    server_kind: "'service'",
    server: 'service',
    system: "''",
    address: "''",
    via: "''",
    failed: 'failed',
    timed: '1',
    length: 'duration',
    server_length: '0',
    alone: '0',
  };
  return `SELECT ${columns
    .split(', ')
    .map((column) => `${input[column] ?? defaults[column]} AS ${column}_`)
    .join(', ')} FROM ${from}`;
};

const queue = { system: 'broker' };
const both = {
  minute: 'c.minute',
  project_id: 'c.project_id',
  server_project_id: 's.project_id',
  client: 'c.service',
  server: 's.service',
  failed: 'c.failed OR s.failed',
  server_length: 's.duration',
};
const nobody = { alone: '1' };

const joined = `WITH named AS (${named}), once AS (SELECT * FROM named LIMIT 1 BY trace_id, span_id, kind),
callers AS (SELECT * FROM once WHERE kind = 4 OR (kind = 3 AND db = '')),
callees AS (
  SELECT *, trace_id AS call_trace, caller_id AS call_id FROM once WHERE (kind = 2 OR (kind = 5 AND (empty(link_span_ids) OR operation = 'receive'))) AND caller_id != toFixedString('', 8)
  UNION ALL
  SELECT *, link.1 AS call_trace, link.2 AS call_id FROM once ARRAY JOIN arrayZip(link_trace_ids, link_span_ids) AS link WHERE kind = 5 AND operation != 'receive'
),
calls AS (${[
  select(
    {
      connection: "'query'",
      server_kind: "'database'",
      system: 'db',
      address: 'address',
      server: "if(match(namespace, '^[0-9]*$'), address, namespace)",
    },
    "named WHERE kind = 3 AND db != ''",
  ),
  select(
    { connection: "'request'", client_kind: "'user'", client: "''", server_length: 'duration' },
    "named WHERE kind = 2 AND caller_id = toFixedString('', 8)",
  ),
  select(
    { connection: "'publish'", server_kind: "'queue'", server: 'queue', ...queue },
    "named WHERE kind = 4 AND queue != '' AND operation != 'create'",
  ),
  select(
    {
      connection: "if(operation = 'receive', 'receive', 'process')",
      client_kind: "'queue'",
      client: 'queue',
      server_length: 'duration',
      ...queue,
    },
    "named WHERE kind = 5 AND queue != ''",
  ),
  select(
    { connection: "'request'", ...both, length: 'c.duration' },
    'callers c JOIN callees s ON c.trace_id = s.call_trace AND c.span_id = s.call_id WHERE c.kind = 3 AND s.kind = 2',
  ),
  select(
    {
      connection: "'message'",
      ...both,
      via: "if(c.queue = '', s.queue, c.queue)",
      system: "if(c.broker = '', s.broker, c.broker)",
      length: 'toUInt64(greatest(0, (s.start_ms - c.start_ms) * 1000000 - toInt64(c.duration)))',
    },
    'callers c JOIN callees s ON c.trace_id = s.call_trace AND c.span_id = s.call_id WHERE c.kind = 4 OR s.kind = 5',
  ),
  select(
    {
      connection: "'request'",
      address: "if(peer = '', '', address)",
      alone: "if(peer = '' AND (address != '' OR url != ''), 0, 1)",
      server_kind: "multiIf(peer != '', 'service', address != '' OR url != '', 'external', 'unknown')",
      server:
        "multiIf(peer != '', peer, address != '', address, netloc(url) = '', '', replaceRegexpOne(netloc(url), '^.*@', ''))",
    },
    'callers c LEFT ANTI JOIN callees s ON c.trace_id = s.call_trace AND c.span_id = s.call_id WHERE kind = 3',
  ),
  select(
    {
      connection: "'message'",
      ...nobody,
      server_kind: "'unknown'",
      server: "''",
      via: 'queue',
      ...queue,
      timed: '0',
      length: '0',
    },
    'callers c LEFT ANTI JOIN callees s ON c.trace_id = s.call_trace AND c.span_id = s.call_id WHERE kind = 4',
  ),
  select(
    { connection: "'request'", ...nobody, client_kind: "'unknown'", client: "''", server_length: 'duration' },
    'callees s LEFT ANTI JOIN callers c ON c.trace_id = s.call_trace AND c.span_id = s.call_id WHERE kind = 2',
  ),
  select(
    {
      connection: "'message'",
      ...nobody,
      client_kind: "'unknown'",
      client: "''",
      via: 'queue',
      ...queue,
      timed: '0',
      length: '0',
      server_length: 'duration',
    },
    'callees s LEFT ANTI JOIN callers c ON c.trace_id = s.call_trace AND c.span_id = s.call_id WHERE kind = 5',
  ),
].join('\nUNION ALL\n')})`;

const key = columns.split(', ').slice(0, 11);

const fromSpans = `${joined}
SELECT toString(minute_) AS minute, ${key
  .slice(1)
  .map((column) => `${column}_ AS ${column}`)
  .join(', ')},
  toString(count()) AS n, toString(countIf(failed_)) AS errors, toString(sum(timed_)) AS t, toString(sum(length_)) AS total, toString(sum(server_length_)) AS server_total, toString(sum(alone_)) AS alone,
  toString(sumMap(if(timed_ = 1, map(${buildBucketSql('length_')}, toUInt64(1)), CAST(map(), 'Map(UInt16, UInt64)')))) AS buckets
FROM calls GROUP BY ALL ORDER BY ALL`;

const fromEdges = `SELECT toString(service_edges.minute) AS minute, ${key.slice(1).join(', ')},
  toString(sum(requests)) AS n, toString(sum(service_edges.errors)) AS errors, toString(sum(timed)) AS t, toString(sum(duration_sum)) AS total, toString(sum(server_duration_sum)) AS server_total,
  toString(sum(arraySum(mapValues(unpaired)))) AS alone, toString(sumMap(duration_buckets)) AS buckets
FROM service_edges WHERE tenant_id = 'acme' GROUP BY ALL ORDER BY ALL`;

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables?.close());

test.serial('the landed edge rows equal a join over the landed spans', async (t) => {
  const seed = 11;
  const arrivals = arrivalsOf(madeUpTraces(seed, 150), seed, 3);
  const messages = arrivals.map(({ headers, value, timestampMs }, offset) => ({ headers, value, timestampMs, offset }));
  const { landed } = flow(arrivals, { seed, partitions: 3, restarts: 0.05 });
  t.deepEqual((await tables.land(messages, { sink: 'traces' })).rejected, []);
  t.deepEqual((await tables.land(landed, { sink: 'service-edges' })).rejected, []);
  const expected = await tables.read(fromSpans);
  t.true(expected.length > 100);
  t.deepEqual(await tables.read(fromEdges), expected);
});
