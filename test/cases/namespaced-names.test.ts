/** Services with the same name in several namespaces, in every table and in the views that processors read. */
import test from 'ava';
import type { RecordView } from '../../schemas/records/record.ts';
import { iterateItems, type Source } from '../../schemas/records/source.ts';
import { dataPoints, logRecords, spans } from '../../schemas/records/sources.ts';
import type { ScanMessage } from '../../sinks/scan/scanner.ts';
import { logsRequest, messageOf, metricsRequest, openTables, type Tables, text, tracesRequest } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const cases: readonly (readonly [string, object[], string])[] = [
  ['no namespace', [text('service.name', 'api')], 'api'],
  ['a namespace', [text('service.name', 'api'), text('service.namespace', 'red')], 'red/api'],
  ['a namespace before the name', [text('service.namespace', 'blue'), text('service.name', 'api')], 'blue/api'],
  ['an empty namespace', [text('service.name', 'api'), text('service.namespace', '')], 'api'],
  ['no name', [text('service.namespace', 'red')], ''],
  ['an empty name', [text('service.name', ''), text('service.namespace', 'red')], ''],
  [
    'a numeric namespace',
    [text('service.name', 'api'), { key: 'service.namespace', value: { intValue: '7' } }],
    '7/api',
  ],
  [
    'long names',
    [text('service.name', 'n'.repeat(300)), text('service.namespace', 'm'.repeat(300))],
    `${'m'.repeat(300)}/${'n'.repeat(300)}`,
  ],
  ['another attribute of that length', [text('service.name', 'api'), text('service-namespace', 'red')], 'api'],
];

const id = (size: number): Buffer => Buffer.alloc(size, 1);
const requests = {
  logs: (attributes: object[]) =>
    logsRequest({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: [{}] }] }] }),
  traces: (attributes: object[]) =>
    tracesRequest({
      resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans: [{ traceId: id(16), spanId: id(8) }] }] }],
    }),
  metrics: (attributes: object[]) =>
    metricsRequest({
      resourceMetrics: [
        {
          resource: { attributes },
          scopeMetrics: [{ metrics: [{ name: 'up', gauge: { dataPoints: [{ asDouble: 1 }] } }] }],
        },
      ],
    }),
};
const serviceTables = { logs: 'logs', traces: 'spans', metrics: 'series' } as const;

const readServices = (source: Source<RecordView>, { value, ...message }: ScanMessage): string[] =>
  Array.from(
    iterateItems(source, { ...message, key: '', value: Buffer.from(value) }, { topic: 'any', partition: 0 }),
    ({ service }) => service,
  );
const sources = { logs: logRecords, traces: spans, metrics: dataPoints } as unknown as Record<
  string,
  Source<RecordView>
>;

for (const signal of ['logs', 'traces', 'metrics'] as const) {
  test.serial(`${signal}: a service in a namespace is another service than one of its name elsewhere`, async (t) => {
    const source = sources[signal];
    if (source === undefined) return t.fail();
    for (const [index, [name, attributes, service]] of cases.entries()) {
      const tenantId = `${signal}-${index}`;
      const message = messageOf([requests[signal](attributes)], { signal, tenantId });
      t.deepEqual(readServices(source, message), [service], name);
      await tables.land([message], { sink: signal });
      const where = `WHERE tenant_id = '${tenantId}'`;
      t.deepEqual(await tables.read(`SELECT service FROM ${serviceTables[signal]} ${where}`), [{ service }], name);
      t.deepEqual(await tables.read(`SELECT service FROM resources ${where}`), [{ service }], name);
      const entities = await tables.read<{ id: string }>(`SELECT id FROM entities ${where} AND kind = 'service'`);
      t.deepEqual(entities, service === '' ? [] : [{ id: service }], name);
    }
  });
}
