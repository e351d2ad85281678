/**
 * Kafka → ClickHouse: CPU-seconds per million rows of the sink's process and of the server, compared with the collector
 * (kafka receiver → batch → clickhouse exporter, its own table). Each has its own server. Consumer on core 0, server
 * and broker on core 1. The topics are filled first, and the clock starts with the consumer.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { mongoDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService } from '../services/services.ts';
import { runLoad } from './load.ts';
import { bodies, logsPayload } from './payloads.ts';
import { collectorPath, startCollector } from './peers.ts';
import { cpuSeconds, memory } from './process-cost.ts';
import type { Row } from './report.ts';
import { scratch } from './scratch.ts';
import { migrateTopics } from './topics.ts';

const requests = Number(process.env['BENCH_REQUESTS'] ?? 2_000);
const recordsPerRequest = 500;
const rows = requests * recordsPerRequest;
const pin = (pid: number, core: number): void =>
  void execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });

const countOf = async (url: string, table: string): Promise<number> => {
  const client = createClient({ url });
  try {
    const result = await client.query({ query: `SELECT count() AS n FROM ${table}`, format: 'JSONEachRow' });
    return Number((await result.json<{ n: string }>())[0]?.n ?? 0);
  } catch {
    return 0;
  } finally {
    await client.close();
  }
};

/** Bytes per row on disk after the final merge of the table. */
const bytesOfRow = async (url: string, table: string): Promise<number> => {
  const client = createClient({ url, request_timeout: 600_000 });
  try {
    await client.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
    const [database, name] = table.includes('.') ? table.split('.') : ['default', table];
    const result = await client.query({
      query: `SELECT sum(bytes_on_disk) / sum(rows) AS bytes FROM system.parts WHERE active AND database = '${database}' AND table = '${name}'`,
      format: 'JSONEachRow',
    });
    return Number((await result.json<{ bytes: number }>())[0]?.bytes);
  } finally {
    await client.close();
  }
};

/** Waits until all rows are stored. Returns the costs since `start`. */
const drained = async (
  name: string,
  consumer: number,
  server: Instance,
  table: string,
  start: { server: number; at: number },
): Promise<Row> => {
  let quarter = { landed: 0, cpu: 0 };
  for (let tries = 0, landed = 0; landed < rows; tries++) {
    if (tries > 600) throw new Error(`${name} landed ${landed} of ${rows} rows within five minutes`);
    await delay(500);
    landed = await countOf(server.url, table);
    if (quarter.landed === 0 && landed >= rows / 4 && landed < rows) quarter = { landed, cpu: cpuSeconds(consumer) };
  }
  const cpu = cpuSeconds(consumer);
  const seconds = (performance.now() - start.at) / 1_000;
  await delay(1_500);
  const landed = await countOf(server.url, table);
  const serverCpu = cpuSeconds(server.pid) - start.server;
  const sinkCpu = cpuSeconds(consumer);
  return {
    peer: name,
    rows: landed,
    'rows/s': rows / seconds,
    'sink CPU-s per million': (sinkCpu / rows) * 1e6,
    '… from the first quarter on': ((cpu - quarter.cpu) / (rows - quarter.landed)) * 1e6,
    'server CPU-s per million': (serverCpu / rows) * 1e6,
    'sink RSS MiB': memory(consumer).rss,
    'bytes a row, merged': await bytesOfRow(server.url, table),
  };
};

const kafkaExporter = (broker: string) => ({
  brokers: [broker],
  logs: { topic: 'peer.logs' },
  producer: { required_acks: -1, max_message_bytes: 1_000_000 },
  sending_queue: { enabled: false },
});
const quiet = { metrics: { level: 'none' }, logs: { level: 'warn' } };

export const land = async (): Promise<Row[]> => {
  const directory = scratch();
  const [kafkaPort = 0, mongoPort = 0, ownPort = 0, peerPort = 0, peerHttp = 0] = await freePorts(5);
  const files = bodies(60, (seed) => logsPayload({ seed, records: recordsPerRequest, nowMs: Date.now() })).map(
    (body, index) => {
      const file = join(directory, `${index}.pb`);
      writeFileSync(file, body);
      return file;
    },
  );
  const kafka = await startService('kafka', { port: kafkaPort, directory: join(directory, 'kafka') });
  const mongo = await startService('mongodb', { port: mongoPort, directory: join(directory, 'mongo') });
  const clickhouse = await startService('clickhouse', { port: ownPort, directory: join(directory, 'clickhouse') });
  const stops: (() => Promise<unknown>)[] = [() => clickhouse.stop(), () => kafka.stop(), () => mongo.stop()];
  for (const { pid } of [kafka, mongo, clickhouse]) pin(pid, 1);
  const broker = `127.0.0.1:${kafkaPort}`;
  const database = new URL(mongo.url);
  database.pathname = '/bench';
  const licenseKey = await mongoDeployment(database.href);
  const environment = {
    ...withoutLimits,
    OIQ_KAFKA_BROKERS: broker,
    OIQ_MONGODB_URL: database.href,
    OIQ_CLICKHOUSE_URL: clickhouse.url,
  };
  const results: Row[] = [];
  try {
    await migrateTopics(broker);
    const load = { files, recordsPerRequest, connections: 8, seconds: 600, requests };
    const receivers = await startOiq({ args: ['receivers'], dataDirectory: join(directory, 'a'), environment });
    await runLoad({
      ...load,
      url: `${receivers.otlp}/v1/logs`,
      headers: { 'x-license-key': licenseKey, 'content-type': 'application/x-protobuf' },
    });
    await receivers.stop();
    const migration = await startOiq({
      args: ['start'],
      dataDirectory: join(directory, 'b'),
      environment: { ...environment, OIQ_KAFKA_BROKERS: '', OIQ_MONGODB_URL: '' },
    });
    await migration.stop();
    const start = { server: cpuSeconds(clickhouse.pid), at: performance.now() };
    const sinks = await startOiq({ args: ['sinks', 'logs'], dataDirectory: join(directory, 'c'), environment });
    pin(sinks.pid, 0);
    results.push(await drained('oiq', sinks.pid, clickhouse, 'logs', start));
    console.error(JSON.stringify(results.at(-1)));
    await sinks.stop();
    if (collectorPath === undefined) return results;

    const server = await startService('clickhouse', { port: peerPort, directory: join(directory, 'clickhouse-peer') });
    stops.unshift(() => server.stop());
    pin(server.pid, 1);
    const admin = createClient({ url: server.url });
    await admin.command({ query: 'CREATE DATABASE IF NOT EXISTS peer' });
    await admin.close();
    const filler = await startCollector(
      directory,
      {
        receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${peerHttp}` } } } },
        exporters: { kafka: kafkaExporter(broker) },
        service: { telemetry: quiet, pipelines: { logs: { receivers: ['otlp'], exporters: ['kafka'] } } },
      },
      undefined,
      `http://127.0.0.1:${peerHttp}/`,
    );
    await runLoad({
      ...load,
      url: `http://127.0.0.1:${peerHttp}/v1/logs`,
      headers: { 'content-type': 'application/x-protobuf' },
    });
    await filler.stop();
    const peerStart = { server: cpuSeconds(server.pid), at: performance.now() };
    const consumer = await startCollector(
      directory,
      {
        receivers: {
          kafka: { brokers: [broker], initial_offset: 'earliest', logs: { topics: ['peer.logs'] } },
          otlp: { protocols: { http: { endpoint: `127.0.0.1:${peerHttp}` } } },
        },
        processors: { batch: { send_batch_size: 20_000, timeout: '1s' } },
        exporters: { clickhouse: { endpoint: `${server.url}?database=peer`, database: 'peer' } },
        service: {
          telemetry: quiet,
          pipelines: { logs: { receivers: ['kafka', 'otlp'], processors: ['batch'], exporters: ['clickhouse'] } },
        },
      },
      0,
      `http://127.0.0.1:${peerHttp}/`,
    );
    results.push(await drained('collector', consumer.pid, server, 'peer.otel_logs', peerStart));
    console.error(JSON.stringify(results.at(-1)));
    await consumer.stop();
    return results;
  } finally {
    for (const stop of stops) await stop();
  }
};
