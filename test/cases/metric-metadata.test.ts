/** Type, unit and description of metrics: the latest metadata of a sender counts, regardless of merges. */
import test from 'ava';
import { listCatalogue } from '../../queries/metrics/catalogue.ts';
import { readMetadata } from '../../queries/promql/fetch/metadata-reads.ts';
import type { Scope } from '../../queries/promql/fetch/scope.ts';
import { compressSnappy } from '../../schemas/compression.ts';
import type { Scanner } from '../../sinks/scan/scanner.ts';
import {
  messageOf,
  metricsRequest,
  openTables,
  receivedAtMs,
  scannerOf,
  type Tables,
  text,
  writeRequest,
} from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const hourMs = 3_600_000;

/** Stores requests of one organization in sequence, each at a number of hours after the first. */
const landing = async (tenantId: string) => {
  let scanner: Scanner = await scannerOf('metrics');
  let serial = 0;
  const land = async (body: Uint8Array, hours: number, headers: object) => {
    const message = messageOf([body], {
      tenantId,
      members: [
        {
          length: body.length,
          size: body.length,
          records: 1,
          receivedAtMs: receivedAtMs + hours * hourMs,
          source: '',
          traceparent: '',
        },
      ],
      ...headers,
    });
    return tables.land([message], { sink: 'metrics', scanner, serial: ++serial });
  };
  return {
    /** Restarts the process, which then knows no earlier series. */
    async restart() {
      scanner = await scannerOf('metrics');
    },
    write: (request: object, hours = 0, version: 1 | 2 = 1) =>
      land(compressSnappy(writeRequest(version, request)), hours, {
        signal: 'metrics',
        format: `remote-write-${version}`,
        encoding: 'snappy',
      }),
    /** A point at the time of its receipt, unless `ofHour` is another hour since the first. */
    otlp: (name: string, description: string, hours: number, ofHour = hours) =>
      land(
        metricsRequest({
          resourceMetrics: [
            {
              resource: { attributes: [text('service.name', 'cart')] },
              scopeMetrics: [
                {
                  metrics: [
                    {
                      name,
                      description,
                      gauge: { dataPoints: [{ timeUnixNano: `${receivedAtMs + ofHour * hourMs}000001`, asDouble: 1 }] },
                    },
                  ],
                },
              ],
            },
          ],
        }),
        hours,
        { signal: 'metrics' },
      ),
  };
};

const sample = (name: string, hours = 0) => ({
  timeseries: [
    {
      labels: [{ name: '__name__', value: name }],
      samples: [{ value: 1, timestamp: String(receivedAtMs + hours * hourMs) }],
    },
  ],
});
const about = (metricFamilyName: string, type: number, help: string, unit = '') => ({
  metadata: [{ type, metricFamilyName, help, unit }],
});

const metadataOf = async (tenant: string, name: string, atHours = 4) => {
  const scope: Scope = {
    columns: tables.columns.forTenant(tenant),
    translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: false },
  };
  const all = await readMetadata(scope, { fromMs: receivedAtMs - hourMs, toMs: receivedAtMs + atHours * hourMs });
  return all.get(name);
};

const catalogueOf = async (tenant: string, name: string) => {
  const ns = (ms: number) => BigInt(ms) * 1_000_000n;
  const { items } = await listCatalogue({ columns: tables.columns.forTenant(tenant) }, {
    range: { from: ns(receivedAtMs - hourMs), to: ns(receivedAtMs + 5 * hourMs) },
    name,
    limit: 10,
  } as Parameters<typeof listCatalogue>[1]);
  return items.map(({ type, unit, description }) => ({ type, unit, description }));
};

/** Checks before and after all parts are merged. */
const merged = async (check: () => Promise<void>) => {
  await check();
  for (const table of ['series', 'metric_metadata']) await tables.columns.execute(`OPTIMIZE TABLE ${table} FINAL`);
  await check();
};

test.serial('remote-write 1.0 metadata that arrives after the samples is stored', async (t) => {
  const { write } = await landing('later');
  await write(sample('own_b'));
  t.is(await metadataOf('later', 'own_b'), undefined);
  await write(about('own_b', 2, 'how much', 'bytes'));
  await merged(async () => {
    t.deepEqual(await metadataOf('later', 'own_b'), [{ type: 'gauge', help: 'how much', unit: 'bytes' }]);
  });
});

test.serial('the type of a series is known from the next hour, even if a new process has not seen it', async (t) => {
  const { write, restart } = await landing('hours');
  await write(sample('own_c'));
  await write(about('own_c', 1, 'how many', 'items'));
  await write(sample('own_c', 1), 1);
  await restart();
  await write(sample('own_c', 2), 2);
  await merged(async () => {
    t.deepEqual(await metadataOf('hours', 'own_c'), [{ type: 'counter', help: 'how many', unit: 'items' }]);
    t.like((await catalogueOf('hours', 'own_c'))[0], { type: 'counter', unit: 'items', description: 'how many' });
  });
  t.deepEqual(
    await tables.read("SELECT kind, unit, temporality, monotonic FROM series FINAL WHERE tenant_id = 'hours'"),
    [{ kind: 'counter', unit: 'items', temporality: 2, monotonic: true }],
  );
});

test.serial('repeated metadata writes no row within the hour, and a change writes one row', async (t) => {
  const { write } = await landing('again');
  t.is((await write(about('own_d', 2, 'first'))).rows['metric_metadata'], 1);
  t.is((await write(about('own_d', 2, 'first'))).rows['metric_metadata'] ?? 0, 0);
  t.is((await write(about('own_d', 2, 'second'))).rows['metric_metadata'], 1);
  t.is((await write(about('own_d', 2, 'second'), 1)).rows['metric_metadata'], 1);
});

test.serial('a changed description replaces the old one, for remote-write and OTLP', async (t) => {
  const { write, otlp } = await landing('changed');
  await write(about('own_e', 2, 'zzz before'));
  await write(about('own_e', 2, 'after'), 3);
  await otlp('temperature', 'zzz before', 0);
  await otlp('temperature', 'after', 3);
  await merged(async () => {
    t.deepEqual(await metadataOf('changed', 'own_e'), [{ type: 'gauge', help: 'after', unit: '' }]);
    t.deepEqual(await metadataOf('changed', 'temperature'), [{ type: 'gauge', help: 'after', unit: '' }]);
    t.is((await catalogueOf('changed', 'temperature'))[0]?.description, 'after');
  });
});

test.serial('late points do not change metadata from newer points of their metric', async (t) => {
  const { otlp } = await landing('late');
  await otlp('temperature', 'now', 3);
  await otlp('temperature', 'zzz before', 4, 0);
  await otlp('humidity', 'came late', 4, 0);
  await merged(async () => {
    t.deepEqual(await metadataOf('late', 'temperature'), [{ type: 'gauge', help: 'now', unit: '' }]);
    t.deepEqual(await metadataOf('late', 'humidity'), [{ type: 'gauge', help: 'came late', unit: '' }]);
    t.is((await catalogueOf('late', 'temperature'))[0]?.description, 'now');
    t.is((await catalogueOf('late', 'humidity'))[0]?.description, 'came late');
  });
});
