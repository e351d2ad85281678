/**
 * Remote-write 2.0, from request to queryable: CPU-seconds of process and ClickHouse server per million samples,
 * compared with the collector (prometheus_remote_write receiver → batch → clickhouse exporter). Each has its own
 * server.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { freePorts } from '../services/ports.ts';
import { startService } from '../services/services.ts';
import { runLoad } from './load.ts';
import { bodies, remoteWritePayload } from './payloads.ts';
import { collectorPath, startCollector } from './peers.ts';
import { cpuSeconds } from './process-cost.ts';
import type { Row } from './report.ts';
import { scratch } from './scratch.ts';

const recordsPerRequest = 1_000;
const requests = Number(process.env['BENCH_REQUESTS'] ?? 1_000);
const samples = requests * recordsPerRequest;
const headers = {
  'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '2.0.0',
};

/** Waits until all acknowledged rows can be read. */
const queryable = async (url: string, sql: string, rows: number): Promise<void> => {
  const client = createClient({ url });
  try {
    for (let tries = 0; tries < 600; tries++) {
      const result = await client.query({ query: sql, format: 'JSONEachRow' }).catch(() => undefined);
      if (Number((await result?.json<{ n: string }>())?.[0]?.n ?? 0) >= rows) return;
      await delay(500);
    }
  } finally {
    await client.close();
  }
  throw new Error(`${rows} samples were not queryable within five minutes`);
};

export const remoteWrite = async (): Promise<Row[]> => {
  const directory = scratch();
  const [ownPort = 0, peerPort = 0, peerHttp = 0] = await freePorts(3);
  const files = bodies(400, (seed) => remoteWritePayload({ seed, records: recordsPerRequest, nowMs: Date.now() })).map(
    (body, index) => {
      const file = join(directory, `${index}.snappy`);
      writeFileSync(file, body);
      return file;
    },
  );
  const load = { files, recordsPerRequest, connections: 8, seconds: 600, requests };
  const results: Row[] = [];
  const own = await startService('clickhouse', { port: ownPort, directory: join(directory, 'own') });
  const dataDirectory = join(directory, 'data');
  const licenseKey = await embeddedDeployment(dataDirectory);
  const oiq = await startOiq({ dataDirectory, environment: { ...withoutLimits, OIQ_CLICKHOUSE_URL: own.url } });
  const before = { process: cpuSeconds(oiq.pid), server: cpuSeconds(own.pid) };
  const sent = await runLoad({
    ...load,
    url: `${oiq.http}/api/v1/prom/write`,
    headers: { ...headers, 'x-license-key': licenseKey },
  });
  if (sent.failed > 0) throw new Error(`oiq refused ${sent.failed} requests: ${sent.firstFailure}`);
  await queryable(own.url, 'SELECT count() AS n FROM samples', samples);
  const row = (peer: string, process: number, server: number): Row => ({
    peer,
    samples,
    'process CPU-s per million': (process / samples) * 1e6,
    'server CPU-s per million': (server / samples) * 1e6,
    'both CPU-s per million': ((process + server) / samples) * 1e6,
  });
  results.push(row('oiq', cpuSeconds(oiq.pid) - before.process, cpuSeconds(own.pid) - before.server));
  console.error(JSON.stringify(results.at(-1)));
  await oiq.stop();
  await own.stop();
  if (collectorPath === undefined) return results;

  const server = await startService('clickhouse', { port: peerPort, directory: join(directory, 'peer') });
  const admin = createClient({ url: server.url });
  await admin.command({ query: 'CREATE DATABASE IF NOT EXISTS peer' });
  await admin.close();
  const collector = await startCollector(
    directory,
    {
      receivers: { prometheus_remote_write: { endpoint: `127.0.0.1:${peerHttp}` } },
      processors: { batch: { send_batch_size: 20_000, timeout: '1s' } },
      exporters: { clickhouse: { endpoint: `${server.url}?database=peer`, database: 'peer' } },
      service: {
        telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
        pipelines: {
          metrics: { receivers: ['prometheus_remote_write'], processors: ['batch'], exporters: ['clickhouse'] },
        },
      },
    },
    undefined,
    `http://127.0.0.1:${peerHttp}/`,
  );
  const peerBefore = { process: cpuSeconds(collector.pid), server: cpuSeconds(server.pid) };
  const peerSent = await runLoad({ ...load, url: `http://127.0.0.1:${peerHttp}/api/v1/write`, headers });
  if (peerSent.failed > 0)
    throw new Error(`the collector refused ${peerSent.failed} requests: ${peerSent.firstFailure}`);
  await queryable(
    server.url,
    'SELECT (SELECT count() FROM peer.otel_metrics_sum) + (SELECT count() FROM peer.otel_metrics_gauge) AS n',
    samples,
  );
  results.push(
    row('collector', cpuSeconds(collector.pid) - peerBefore.process, cpuSeconds(server.pid) - peerBefore.server),
  );
  console.error(JSON.stringify(results.at(-1)));
  await collector.stop();
  await server.stop();
  return results;
};
