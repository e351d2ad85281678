/**
 * Receive → durable on Kafka: CPU-seconds of the receiver per million log records, compared with the collector (otlp →
 * kafka exporter without its sending queue, acks=all), with the same broker, bodies and generator. Server on core 0,
 * generator and broker on core 1.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mongoDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { freePorts } from '../services/ports.ts';
import { startService } from '../services/services.ts';
import { type LoadJob, runLoad } from './load.ts';
import { bodies, logsPayload } from './payloads.ts';
import { collectorPath, startCollector } from './peers.ts';
import { cpuSeconds, memory } from './process-cost.ts';
import type { Row } from './report.ts';
import { scratch } from './scratch.ts';
import { migrateTopics } from './topics.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 8);
/** A part of a shape's name, and connections, to measure fewer combinations. */
const shapeFilter = process.env['BENCH_SHAPE'] ?? '';
const connectionCounts = (process.env['BENCH_CONNECTIONS'] ?? '8,64').split(',').map(Number);
/** Requests before the measurement, during which most code is compiled. */
const warmUpRequests = { small: 15_000, large: 1_000 };
const serverCore = 0;
const loadCore = 1;

interface Shape {
  readonly name: string;
  readonly records: number;
  readonly gzip: boolean;
  readonly grpc: boolean;
}

const shapes: readonly Shape[] = [
  { name: 'HTTP, 500 a request, plain', records: 500, gzip: false, grpc: false },
  { name: 'HTTP, 500 a request, gzip', records: 500, gzip: true, grpc: false },
  { name: 'HTTP, 10 a request, plain', records: 10, gzip: false, grpc: false },
  { name: 'gRPC, 10 a request, plain', records: 10, gzip: false, grpc: true },
];

/** Writes the bodies of every shape into files for the generator. */
const payloadFiles = (directory: string): Map<Shape, string[]> =>
  new Map(
    shapes
      .filter(({ name }) => name.includes(shapeFilter))
      .map((shape) => {
        const folder = join(directory, `${shape.records}${shape.gzip ? '-gzip' : ''}${shape.grpc ? '-grpc' : ''}`);
        mkdirSync(folder, { recursive: true });
        const created = bodies(
          shape.records >= 500 ? 60 : 400,
          (seed) => logsPayload({ seed, records: shape.records, nowMs: Date.now() }),
          shape.gzip,
        );
        return [
          shape,
          created.map((body, index) => {
            const file = join(folder, `${index}.pb`);
            writeFileSync(file, body);
            return file;
          }),
        ];
      }),
  );

interface Target {
  readonly name: string;
  readonly pid: number;
  readonly http: string;
  readonly grpc: string;
  readonly headers: Readonly<Record<string, string>>;
}

const measure = async (target: Target, shape: Shape, connections: number, files: readonly string[]) => {
  const job: LoadJob = {
    url: shape.grpc
      ? `http://${target.grpc}/opentelemetry.proto.collector.logs.v1.LogsService/Export`
      : `${target.http}/v1/logs`,
    grpc: shape.grpc,
    headers: {
      ...target.headers,
      ...(shape.grpc ? {} : { 'content-type': 'application/x-protobuf' }),
      ...(shape.gzip ? { 'content-encoding': 'gzip' } : {}),
    },
    files,
    recordsPerRequest: shape.records,
    connections,
    seconds,
  };
  const requests = shape.records >= 500 ? warmUpRequests.large : warmUpRequests.small;
  await runLoad({ ...job, requests }, loadCore);
  const before = cpuSeconds(target.pid);
  const result = await runLoad(job, loadCore);
  if (result.failed > 0)
    throw new Error(
      `${target.name}: ${result.failed} of ${result.failed + result.acknowledged} requests failed: ${result.firstFailure}`,
    );
  return {
    cost: ((cpuSeconds(target.pid) - before) / result.records) * 1e6,
    rate: result.records / result.seconds,
    p99: result.p99,
    rss: memory(target.pid).rss,
  };
};

/** Runs all shapes with 8 and 64 connections against OIQ and, if available, the collector. */
export const receive = async (): Promise<Row[]> => {
  const directory = scratch();
  const [kafkaPort = 0, mongoPort = 0, peerHttp = 0, peerGrpc = 0] = await freePorts(4);
  const kafka = await startService('kafka', { port: kafkaPort, directory: join(directory, 'kafka') });
  const mongo = await startService('mongodb', { port: mongoPort, directory: join(directory, 'mongo') });
  execFileSync('taskset', ['-acp', String(loadCore), String(kafka.pid)], { stdio: 'ignore' });
  execFileSync('taskset', ['-acp', String(loadCore), String(mongo.pid)], { stdio: 'ignore' });
  const broker = `127.0.0.1:${kafkaPort}`;
  const url = new URL(mongo.url);
  url.pathname = '/bench';
  const licenseKey = await mongoDeployment(url.href);
  const environment = { ...withoutLimits, OIQ_CLUSTER: 'false', OIQ_KAFKA_BROKERS: broker, OIQ_MONGODB_URL: url.href };
  const dataDirectory = join(directory, 'data');
  // Creates the topics. The embedded column store of this data directory stays empty.

  await migrateTopics(broker);
  const oiq = await startOiq({
    args: ['receivers'],
    dataDirectory,
    environment: { ...environment, OIQ_CLICKHOUSE_URL: 'http://127.0.0.1:1' },
  });
  execFileSync('taskset', ['-acp', String(serverCore), String(oiq.pid)], { stdio: 'ignore' });
  const targets: Target[] = [
    { name: 'oiq', pid: oiq.pid, http: oiq.otlp, grpc: oiq.grpc, headers: { 'x-license-key': licenseKey } },
  ];
  const stops: (() => Promise<unknown>)[] = [() => oiq.stop(), () => kafka.stop(), () => mongo.stop()];
  if (collectorPath !== undefined) {
    const collector = await startCollector(
      directory,
      {
        receivers: {
          otlp: {
            protocols: { http: { endpoint: `127.0.0.1:${peerHttp}` }, grpc: { endpoint: `127.0.0.1:${peerGrpc}` } },
          },
        },
        exporters: {
          kafka: {
            brokers: [broker],
            logs: { topic: 'peer.logs' },
            producer: { required_acks: -1, max_message_bytes: 1_000_000 },
            sending_queue: { enabled: false },
          },
        },
        service: {
          telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
          pipelines: { logs: { receivers: ['otlp'], exporters: ['kafka'] } },
        },
      },
      serverCore,
      `http://127.0.0.1:${peerHttp}/`,
    );
    stops.unshift(() => collector.stop());
    targets.push({
      name: 'collector',
      pid: collector.pid,
      http: `http://127.0.0.1:${peerHttp}`,
      grpc: `127.0.0.1:${peerGrpc}`,
      headers: {},
    });
  }
  const rows: Row[] = [];
  try {
    for (const [shape, files] of payloadFiles(directory)) {
      for (const connections of connectionCounts) {
        const costs: number[] = [];
        const row: Record<string, string | number> = { shape: shape.name, connections };
        for (const target of targets) {
          const { cost, rate, p99, rss } = await measure(target, shape, connections, files);
          costs.push(cost);
          row[`${target.name}: CPU-s per million`] = cost;
          row[`${target.name}: records/s`] = rate;
          row[`${target.name}: p99 ms`] = p99;
          row[`${target.name}: RSS MiB`] = rss;
        }
        row['ratio'] = costs.length === 2 ? (costs[0] ?? 0) / (costs[1] ?? 1) : '';
        console.error(JSON.stringify(row));
        rows.push(row);
      }
    }
  } finally {
    for (const stop of stops) await stop();
  }
  return rows;
};
