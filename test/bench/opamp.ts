/**
 * Receivers over the embedded log, with agents on WebSockets and agents that poll over HTTP in a separate process.
 * Figures are those of the process with the receivers. `BENCH_AGENTS` (10,000 of each kind), `BENCH_INTERVAL` (30
 * seconds), `BENCH_SECONDS` (60).
 *
 *     node bin/node.mjs test/bench/opamp.ts
 */
import { fork } from 'node:child_process';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { startReceivers } from '../../receivers/index.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { allTopics } from '../../schemas/topics.ts';
import { encode, fullState, reportsAll, uidOf } from '../contract/opamp-client.ts';
import { furnish, manyRequests } from '../contract/receivers-fixture.ts';
import { table } from './report.ts';
import { scratch } from './scratch.ts';

const agents = Number(process.env['BENCH_AGENTS'] ?? 10_000);
const intervalMs = Number(process.env['BENCH_INTERVAL'] ?? 30) * 1000;
const seconds = Number(process.env['BENCH_SECONDS'] ?? 60);
/** All agents of the process have one source address, which has about 28,000 ports. */
const connectsAtOnce = 100;

interface Job {
  readonly url: string;
  readonly secret: string;
}

const configuration = {
  configMap: {
    configMap: { '': { body: Buffer.from('receivers:\n  otlp:\n    protocols: {grpc: {}, http: {}}\n'.repeat(100)) } },
  },
};

const messageOf = (number: number, sequenceNum: number): Buffer =>
  encode(
    sequenceNum === 1
      ? fullState({ instanceUid: uidOf(number), effectiveConfig: configuration })
      : { instanceUid: uidOf(number), sequenceNum, capabilities: reportsAll },
  );

let replies = 0;

const connectSocket = ({ url, secret }: Job, number: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/opamp`, {
      headers: { 'x-license-key': secret },
      perMessageDeflate: false,
    });
    let sequence = 0;
    const send = () => socket.send(Buffer.concat([Buffer.from([0]), messageOf(number, ++sequence)]));
    socket.on('open', () => {
      send();
      setTimeout(() => setInterval(send, intervalMs), Math.random() * intervalMs);
    });
    socket.on('message', () => {
      replies++;
      resolve();
    });
    socket.on('error', reject);
  });

const pollHttp = ({ url, secret }: Job, agent: Agent, number: number): Promise<void> => {
  let sequence = 0;
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { 'x-license-key': secret, 'content-type': 'application/x-protobuf' };
      request(`${url}/v1/opamp`, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) replies++;
          resolve();
        });
      })
        .on('error', reject)
        .end(messageOf(number, ++sequence));
    });
  setTimeout(() => setInterval(() => void send(), intervalMs), Math.random() * intervalMs);
  return send();
};

const runAgents = async (job: Job): Promise<void> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  for (let number = 0; number < agents; number += connectsAtOnce)
    await Promise.all(
      Array.from({ length: Math.min(connectsAtOnce, agents - number) }, (_, index) =>
        Promise.all([connectSocket(job, number + index), pollHttp(job, agent, agents + number + index)]),
      ),
    );
  process.send?.({ connected: true });
  const before = replies;
  await delay(intervalMs + seconds * 1000);
  process.send?.({ replies: replies - before });
};

if (process.argv[2] === 'agents') {
  process.on('message', (job: Job) => void runAgents(job));
} else {
  const directory = scratch();
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.db') });
  const { secret } = await furnish(documents, { plan: manyRequests });
  const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
  await bus.ensureTopics(allTopics);
  const receivers = await startReceivers({
    bus,
    documents,
    counters: createMemoryCounters({ clock: systemClock }),
    metrics: silentMetrics,
    log: silentLog,
    clock: systemClock,
    settings: parseSettings({
      OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0',
      OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0',
      OIQ_SECRET_KEY: 'secret key of the benchmark of OpAMP',
      OIQ_KEY_REQUESTS_PER_SECOND: '1000000',
      OIQ_OPAMP_HEARTBEAT_SECONDS: String(intervalMs / 1000),
    }),
  });
  const idleBytes = process.memoryUsage.rss();
  const started = performance.now();
  const child = fork(fileURLToPath(import.meta.url), ['agents']);
  const next = <Name extends string>(name: Name) =>
    new Promise<number>((resolve) => {
      child.on('message', (message: Record<Name, number>) => name in message && resolve(Number(message[name])));
    });
  child.send({ url: `http://${receivers.addresses.OTLP_HTTP_ADDRESS}`, secret });
  const replied = next('replies');
  await next('connected');
  const connectedMs = performance.now() - started;
  const connectCpu = process.cpuUsage();
  // From here on agents send at random times within the interval.
  await delay(intervalMs);
  const startedMs = performance.now();
  const before = process.cpuUsage();
  let peakBytes = 0;
  while (performance.now() - startedMs < seconds * 1000) {
    await delay(1_000);
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }
  const { user, system } = process.cpuUsage(before);
  const elapsedMs = performance.now() - startedMs;
  console.log(
    table([
      {
        agents: `${agents} + ${agents}`,
        'connected in': `${(connectedMs / 1000).toFixed(1)} s`,
        'CPU of that': `${((connectCpu.user + connectCpu.system) / 1e6).toFixed(1)} s`,
        'messages a second': Math.round((await replied) / (intervalMs / 1000 + seconds)),
        'CPU, share of a core': `${((user + system) / 10 / elapsedMs).toFixed(1)} %`,
        'RSS before': `${Math.round(idleBytes / 2 ** 20)} MiB`,
        RSS: `${Math.round(peakBytes / 2 ** 20)} MiB`,
        'heap in use': `${Math.round(process.memoryUsage().heapUsed / 2 ** 20)} MiB`,
        buffers: `${Math.round(process.memoryUsage().arrayBuffers / 2 ** 20)} MiB`,
      },
    ]),
  );
  child.kill();
  await receivers.stop();
  await bus.close();
  await documents.close();
  process.exit(0);
}
