/**
 * Heartbeats of jobs, from real HTTP to the embedded log, and from the log to runs. The sender is a separate process.
 * Figures are CPU time of this process, after 15,000 uncounted heartbeats to warm up V8's compilers. `BENCH_SECONDS`
 * (10), `BENCH_CONNECTIONS` (64), `BENCH_RATE` (unlimited).
 *
 *     node bin/node.mjs test/bench/heartbeats.ts
 */
import { fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { Task } from '../../processors/engine/task.ts';
import { heartbeats } from '../../processors/synthetics/heartbeats.ts';
import { startReceivers } from '../../receivers/index.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { heartbeatTokenFormat, syntheticHeartbeatTokens } from '../../schemas/resources/synthetic-heartbeat-token.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { allTopics, topics } from '../../schemas/topics.ts';
import { CheckFields, toStoredCheck } from '../../subjects/synthetics/check.ts';
import { table } from './report.ts';
import { scratch } from './scratch.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 10);
const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 64);
const rate = Number(process.env['BENCH_RATE'] ?? 0);
const warmupHeartbeats = 15_000;
/** A token accepts ten heartbeats per second, so many tokens are needed. */
const tenants = ['a', 'b', 'c', 'd'];
const checksOfTenant = 500;

interface Job {
  readonly url: string;
  readonly tokens: readonly string[];
}

/** Sends heartbeats as fast as they are acknowledged, or at a fixed rate. Reports response times. */
const send = async ({ url, tokens }: Job): Promise<void> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  let statuses: Record<string, number> = {};
  const started = performance.now();
  let countingFrom = Number.POSITIVE_INFINITY;
  let next = 0;
  const beginOnceWarm = (): void => {
    if (countingFrom !== Number.POSITIVE_INFINITY || times.length < warmupHeartbeats) return;
    process.send?.('warm');
    [countingFrom, statuses] = [performance.now(), {}];
    times.length = 0;
  };
  const one = (path: string) =>
    new Promise<number>((resolve, reject) => {
      get(`${url}/beats/${path}`, { agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      }).on('error', reject);
    });
  const sender = async (): Promise<void> => {
    while (countingFrom + seconds * 1000 > performance.now()) {
      const requestIndex = next++;
      const aheadMs = rate === 0 ? 0 : (requestIndex / rate) * 1000 - (performance.now() - started);
      if (aheadMs > 1) await delay(aheadMs);
      const sentAt = performance.now();
      // Each token alternates between the start and the end of a run.
      const round = Math.floor(requestIndex / tokens.length);
      const status = await one(
        `${tokens[requestIndex % tokens.length]}${round % 2 === 0 ? '/start' : '/0'}?rid=r${round >> 1}`,
      );
      times.push(performance.now() - sentAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
      beginOnceWarm();
    }
  };
  await Promise.all(Array.from({ length: connections }, sender));
  times.sort((left, right) => left - right);
  const part = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  process.send?.({ statuses, p50: part(0.5), p99: part(0.99), seconds: (performance.now() - countingFrom) / 1000 });
  agent.destroy();
};

interface Sent {
  readonly statuses: Readonly<Record<string, number>>;
  readonly p50: number;
  readonly p99: number;
  readonly seconds: number;
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const measure = async (): Promise<void> => {
  const directory = scratch();
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.db') });
  await documents.ensureCollections([organizations, syntheticChecks, syntheticHeartbeatTokens]);
  const tokens: string[] = [];
  const fields = toStoredCheck(CheckFields.parse({ name: 'job', type: 'heartbeat', every: '10m', heartbeat: {} }));
  for (const tenantId of tenants) {
    const organization = { name: tenantId, planId: 'enterprise', retentionDays: {}, shards: 1, disabled: false };
    await documents
      .forTenant(organizationsTenant)
      .collection(organizations)
      .insert({ id: tenantId, ...organization });
    for (let index = 0; index < checksOfTenant; index++) {
      const [id, token] = [`job-${index}`, heartbeatTokenFormat.generate()];
      const own = documents.forTenant(tenantId);
      await own.collection(syntheticChecks).insert({ ...fields, id, name: id });
      await own.collection(syntheticHeartbeatTokens).insert({ id, hash: hash('sha256', token), prefix: '' });
      tokens.push(token);
    }
  }
  const clock = { now: () => Date.now() };
  const bus = await openSegmentsBus({ directory: join(directory, 'bus'), log: silentLog, metrics: silentMetrics });
  await bus.ensureTopics(allTopics);
  const receivers = await startReceivers({
    bus,
    documents,
    counters: createMemoryCounters({ clock }),
    metrics: silentMetrics,
    log: silentLog,
    clock,
    settings: parseSettings({ OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0', OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0' }),
  });
  const url = `http://${receivers.addresses.OTLP_HTTP_ADDRESS}`;
  let began = 0;
  const sent = await new Promise<Sent>((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['send'], { serialization: 'advanced' });
    child.on('message', (result: Sent | 'warm') => {
      if (result !== 'warm') return resolve(result);
      began = cpuMs();
    });
    child.on('error', reject);
    child.send({ url, tokens } satisfies Job);
  });
  const receivingMs = cpuMs() - began;
  const acceptedCount = sent.statuses['200'] ?? 0;

  const [{ partition, earliest, end } = { partition: 0, earliest: 0, end: 0 }] = await bus.offsets(
    topics.syntheticHeartbeats.name,
  );
  const task = new Task(heartbeats, { topic: topics.syntheticHeartbeats.name, partition });
  for (const tenantId of tenants)
    for (const { ...check } of (await documents.forTenant(tenantId).collection(syntheticChecks).list({ limit: 1000 }))
      .items)
      task.applyChange(syntheticChecks.name, tenantId, check.id, check);
  let [stepping, stepped] = [0, 0];
  let runs = 0;
  let items = 0;
  for await (const record of bus.read(topics.syntheticHeartbeats.name, partition, earliest, end)) {
    const before = cpuMs();
    const { messages } = task.batch([record]);
    const usedCpuMs = cpuMs() - before;
    const own = (JSON.parse(Buffer.from(record.value).toString()) as unknown[]).length;
    items += own;
    if (items > warmupHeartbeats) [stepping, stepped] = [stepping + usedCpuMs, stepped + own];
    for (const { value } of messages) runs += (JSON.parse(Buffer.from(value).toString()) as unknown[]).length;
  }
  console.log(
    table([
      {
        'beats taken': acceptedCount,
        refused:
          Object.entries(sent.statuses)
            .flatMap(([status, count]) => (status === '200' ? [] : `${count} × ${status}`))
            .join(', ') || 'none',
        'a second': acceptedCount / sent.seconds,
        'p50 ms': sent.p50,
        'p99 ms': sent.p99,
        'CPU-s per million': (receivingMs * 1000) / acceptedCount,
        'a core takes a second': (acceptedCount / receivingMs) * 1000,
        'on the log': items,
        'runs made': runs,
        'µs a beat in the processor': (stepping * 1000) / stepped,
      },
    ]),
  );
  await receivers.stop();
  await bus.close();
  await documents.close();
};

if (process.argv[2] === 'send') process.once('message', (job: Job) => void send(job).then(() => process.disconnect()));
else await measure();
