/** Protobuf fields can have any order, and some collectors write the last field first. */
import test from 'ava';
import fc from 'fast-check';
import type { TelemetryHeaders } from '../../schemas/telemetry-message.ts';
import { messageOf as anyMessageOf, backwards, requestTypes, writeRequestTypes } from './proto/load.ts';
import { messageOf, openTables, type Tables, text } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const resource = { attributes: [text('host.name', 'a'), text('service.name', 'cart')] };
const scope = { name: 'scope', version: '1' };
const point = { timeUnixNano: '5', asInt: '1', attributes: [text('room', 'a')] };
const label = (name: string, value: string): object => ({ name, value });

const examples = {
  logs: { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: [{ body: { stringValue: 'hello' } }] }] }] },
  traces: { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [{ name: 'GET', status: { code: 2 } }] }] }] },
  metrics: {
    resourceMetrics: [
      {
        resource,
        scopeMetrics: [
          { scope, metrics: [{ name: 'c', unit: '1', sum: { dataPoints: [point], aggregationTemporality: 2 } }] },
        ],
      },
    ],
  },
} as const;

const write = {
  1: {
    metadata: [{ type: 1, metricFamilyName: 'up', help: 'is it up', unit: 'bool' }],
    timeseries: [{ labels: [label('__name__', 'up'), label('job', 'api')], samples: [{ value: 1, timestamp: '5' }] }],
  },
  2: {
    symbols: ['', '__name__', 'up', 'job', 'api', 'is it up', 'bool'],
    timeseries: [
      {
        labelsRefs: [1, 2, 3, 4],
        samples: [{ value: 1, timestamp: '5' }],
        metadata: { type: 2, helpRef: 5, unitRef: 6 },
      },
    ],
  },
} as const;

/** Stores the requests for a tenant; returns the rows of each table without tenant columns. */
const landed = async (tenantId: string, bodies: readonly Uint8Array[], headers: Partial<TelemetryHeaders>) => {
  const { rejected, rows } = await tables.land([messageOf(bodies, { ...headers, tenantId })], {
    sink: headers.signal ?? 'logs',
  });
  const found: Record<string, unknown> = { rejected };
  for (const table of Object.keys(rows))
    found[table] = await tables.read(
      `SELECT * EXCEPT tenant_id FROM ${table} WHERE tenant_id = '${tenantId}' ORDER BY ALL`,
    );
  return found;
};

for (const signal of ['logs', 'metrics', 'traces'] as const) {
  test(`${signal} land identically with their fields in the opposite order`, async (t) => {
    const type = requestTypes[signal];
    const random = fc.sample(anyMessageOf(type, 6), { numRuns: 40, seed: 7 });
    const bodies = [examples[signal], ...random].map((request) => type.encode(type.fromObject(request)).finish());
    const reversedBodies = bodies.map((bytes) => backwards(type, bytes));
    t.notDeepEqual(reversedBodies[0], bodies[0]);
    const forward = await landed(`${signal}-forward`, bodies, { signal });
    t.deepEqual(await landed(`${signal}-backward`, reversedBodies, { signal }), forward);
    t.true(JSON.stringify(forward['resources']).includes('"service":"cart"'));
  });
}

for (const version of [1, 2] as const) {
  test(`remote-write ${version}.0 lands identically with its fields in the opposite order`, async (t) => {
    const type = writeRequestTypes[version];
    const body = type.encode(type.fromObject(write[version])).finish();
    const headers = { signal: 'metrics', format: `remote-write-${version}` } as const;
    const forward = await landed(`write-${version}-forward`, [body], headers);
    const backward = await landed(`write-${version}-backward`, [backwards(type, body)], headers);
    t.deepEqual(backward, forward);
    t.true(JSON.stringify(forward['series']).includes('"service":"api"'));
  });
}
