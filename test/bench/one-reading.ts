/**
 * The cost of one more log processor without work: CPU-seconds per million records, with and without the processors of
 * the product, plain and gzip. Each figure is the minimum of several runs, each in its own process over a copy of the
 * same log.
 *
 *     node bin/node.mjs test/bench/one-reading.ts [RUNS]
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { collections } from '../../api/collections.ts';
import { startProcessors } from '../../processors/index.ts';
import { toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { defaultPlans, plans, plansTenant } from '../../schemas/resources/plan.ts';
import { encodeHeaders } from '../../schemas/telemetry-message.ts';
import { topics } from '../../schemas/topics.ts';
import { processors } from './one-reading-registry.ts';
import { bodies, logsPayload } from './payloads.ts';
import { table } from './report.ts';
import { scratch } from './scratch.ts';

const messages = 800;
const recordsPerMessage = 500;
const idleOnes = 20;

const [mode = '3', directory = ''] = process.argv.slice(2);

const publish = async (into: string, kind: 'identity' | 'gzip'): Promise<void> => {
  const bus = await openSegmentsBus({ directory: join(into, 'bus') });
  await bus.ensureTopics(Object.values(topics));
  const documents = await openSqliteDocuments({ path: join(into, 'documents.sqlite') });
  await documents.ensureCollections(collections);
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
  const nowMs = Date.now();
  const payloads = bodies(20, (seed) => logsPayload({ seed, records: recordsPerMessage, nowMs }));
  for (let at = 0; at < messages; at++) {
    const body = payloads[at % payloads.length] as Uint8Array;
    const value = kind === 'gzip' ? gzipSync(body) : body;
    const member = { length: value.length, size: body.length, records: recordsPerMessage, receivedAtMs: nowMs };
    const headers = encodeHeaders({
      tenantId: 'acme',
      projectId: 'shop',
      keyId: 'key',
      signal: 'logs',
      format: 'otlp',
      encoding: kind,
      members: [{ ...member, source: '', traceparent: '' }],
    });
    await producer.publish([{ topic: topics.logs.name, key: 'acme', value, headers }]);
  }
  await producer.close();
  await bus.close();
  await documents.close();
};

/** Runs in its own process. Returns CPU-seconds per million records until all processors have read everything. */
const measured = async (): Promise<number> => {
  const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  const before = process.cpuUsage();
  const role = await startProcessors({
    bus,
    documents,
    metrics: silentMetrics,
    log: silentLog,
    clock: systemClock,
    registered: { processors, module: new URL('./one-reading-registry.ts', import.meta.url) },
  });
  const groups = processors.map(({ name }) => toConsumerGroup('processors', name));
  for (;;) {
    const lags = await Promise.all(groups.map((group) => bus.lag(group, [topics.logs.name])));
    if (lags.flat().every(({ lag }) => lag === 0)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { user, system } = process.cpuUsage(before);
  await role.stop();
  for (const group of groups) await bus.deleteGroup(group);
  await bus.close();
  await documents.close();
  return (user + system) / (messages * recordsPerMessage);
};

/** Uses a copy of the data, because snapshots of a previous run would skip the messages. */
const run = (from: string, idle: number, real: number): number => {
  const into = join(scratch(), 'run');
  cpSync(from, into, { recursive: true });
  const figure = execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'measure', into], {
    env: { ...process.env, BENCH_IDLE: String(idle), BENCH_REAL: String(real) },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  rmSync(into, { recursive: true });
  return Number(figure.trim());
};

if (mode === 'measure') {
  console.log(await measured());
  process.exit(0);
}
const rows: Record<string, string | number>[] = [];
for (const kind of ['identity', 'gzip'] as const) {
  const into = join(scratch(), kind);
  await publish(into, kind);
  const minOf = (idle: number, real: number): number =>
    Math.min(...Array.from({ length: Number(mode) }, () => run(into, idle, real)));
  const [alone, withIdle, withReal, realWithIdle] = [
    minOf(1, 0),
    minOf(idleOnes + 1, 0),
    minOf(0, 1),
    minOf(idleOnes, 1),
  ];
  rows.push({
    encoding: kind,
    'one idle': alone,
    'product’s': withReal,
    'one more, beside one': (withIdle - alone) / idleOnes,
    'one more, beside the product’s': (realWithIdle - withReal) / idleOnes,
  });
}
console.log(table(rows));
process.exit(0);
