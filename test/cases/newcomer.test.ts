/** The example of `processors/example.md`: its text equals the files in `newcomer/`, and it works from end to end. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { startProcessors } from '../../processors/index.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { topics } from '../../schemas/topics.ts';
import { createBatchHandler } from '../../sinks/engine/run.ts';
import { ScanPool } from '../../sinks/engine/scan-pool.ts';
import { migrate, migrations } from '../../sinks/migrations/index.ts';
import { eventually } from '../waiting.ts';
import { processors } from './newcomer/error-counts.ts';
import { errorCountsSink } from './newcomer/error-counts-sink.ts';
import { errorCountsTable } from './newcomer/error-counts-table.ts';
import { errorCountsTopic } from './newcomer/error-counts-topic.ts';
import { listErrorCounts } from './newcomer/list-error-counts.ts';
import { otlpMessage } from './run-task.ts';
import { text } from './sink-tables.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = globSync('test/cases/newcomer/*.ts', { cwd: root }).sort();

test('the example has at most five files and 120 lines, and the README shows them unchanged', (t) => {
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'));
  t.true(files.length <= 5);
  t.true(texts.join('').split('\n').length - 1 <= 120, `${texts.join('').split('\n').length - 1} lines`);
  const readme = readFileSync(join(root, 'processors/example.md'), 'utf8');
  for (const [index, code] of texts.entries()) t.true(readme.includes(`\`\`\`ts\n${code}\`\`\``), files[index]);
});

/** Logs of a service with one severity. */
const logsOf = (service: string, severityNumber: number, timeMs: number) =>
  otlpMessage(
    'logs',
    {
      resourceLogs: [
        {
          resource: { attributes: [text('service.name', service)] },
          scopeLogs: [
            { logRecords: [{ severityNumber, timeUnixNano: `${timeMs}000000`, body: { stringValue: 'no' } }] },
          ],
        },
      ],
    },
    { atMs: timeMs },
  );

test('error logs are counted by service and minute, land once, and can be read', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-newcomer-'));
  for (const folder of ['columns', 'temporary', 'bus']) mkdirSync(join(directory, folder));
  const columns = await openChdbColumns({
    directory: join(directory, 'columns'),
    temporaryDirectory: join(directory, 'temporary'),
  });
  const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  t.teardown(async () => {
    await bus.close();
    await columns.close();
    await documents.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await migrate(columns, silentLog, migrations, [errorCountsTable]);
  await bus.ensureTopics([topics.logs, topics.deadLetter, errorCountsTopic]);
  await documents.ensureCollections([processorStates, processorStateChunks, plans, organizations]);
  const { free } = defaultPlans;
  await documents
    .forTenant(plansTenant)
    .collection(plans)
    .insert({ id: 'free', ...(free as NonNullable<typeof free>) });
  const organization = { name: 'Acme', planId: 'free', disabled: false, retentionDays: {}, shards: 1 };
  await documents
    .forTenant(organizationsTenant)
    .collection(organizations)
    .insert({ id: 'acme', ...organization });

  const producer = await bus.producer();
  const minuteMs = Math.floor(Date.now() / 60_000) * 60_000 - 600_000;
  const payloads = [
    logsOf('cart', 17, minuteMs),
    logsOf('cart', 21, minuteMs + 59_999),
    logsOf('cart', 9, minuteMs + 1),
    logsOf('mail', 17, minuteMs + 60_000),
    logsOf('mail', 9, minuteMs + 400_000),
  ];
  await producer.publish(payloads.map((message) => ({ topic: topics.logs.name, key: 'acme', ...message })));

  const role = await startProcessors({
    bus,
    documents,
    metrics: silentMetrics,
    log: silentLog,
    clock: systemClock,
    registered: { processors, module: new URL('./newcomer/error-counts.ts', import.meta.url) },
  });
  const pool = new ScanPool(new URL('./newcomer/error-counts-sink.ts', import.meta.url), 1);
  const sink = bus.createConsumer({ group: 'sinks.newcomer-error-counts', maxWaitMs: 50 });
  const runtime = { producer, columns, pool, metrics: silentMetrics, log: silentLog, clock: systemClock };
  const landing = sink.run([errorCountsTopic.name], createBatchHandler(errorCountsSink, runtime));
  t.teardown(async () => {
    await role.stop();
    await sink.stop();
    await landing;
    await pool.close();
  });

  const read = async () => {
    const caller = { tenantId: 'acme', plan: free };
    const query = { from: String(minuteMs), to: String(minuteMs + 120_000) };
    const request = { caller, query, params: {}, body: undefined };
    const response = await listErrorCounts.run(request as never, { columns, clock: systemClock } as never);
    return response as { readonly items: readonly unknown[] };
  };
  const expected = [
    { service: 'cart', minute: new Date(minuteMs).toISOString(), errors: 2 },
    { service: 'mail', minute: new Date(minuteMs + 60_000).toISOString(), errors: 1 },
  ];
  await eventually('counts are read', async () => (await read()).items.length >= expected.length);
  t.deepEqual((await read()).items, expected);
});
