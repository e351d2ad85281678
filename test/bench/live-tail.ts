/**
 * Live tail during ingest in one process: a steady rate of log records, and 500 listeners on one instance. Their cost
 * is the difference from the same load without listeners: CPU, memory, and the latency of an acknowledgement.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { type OiqProcess, signIn, startOiq } from '../end-to-end/oiq-process.ts';
import { runLoad } from './load.ts';
import { bodies, logsPayload } from './payloads.ts';
import { cpuSeconds, memory } from './process-cost.ts';
import type { Row } from './report.ts';
import { scratch } from './scratch.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 20);
const listeners = Number(process.env['BENCH_LISTENERS'] ?? 500);
const rate = Number(process.env['BENCH_RATE'] ?? 10_000);
const recordsPerRequest = 500;
/** The maximum number of connections per user. */
const perToken = 20;

const post = async (oiq: OiqProcess, path: string, token: string, body: object): Promise<Record<string, string>> => {
  const response = await fetch(`${oiq.http}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, string>;
};

const tokensOf = async (oiq: OiqProcess): Promise<string[]> => {
  const owner = await signIn(oiq.http);
  const tokens: string[] = [];
  for (let index = 0; index * perToken < listeners; index++) {
    const { id } = await post(oiq, '/api/service-accounts', owner, { name: `listener ${index}`, role: 'viewer' });
    const created = { name: 'live tail', scopes: ['logs:read'] };
    tokens.push((await post(oiq, `/api/service-accounts/${id}/tokens`, owner, created))['token'] ?? '');
  }
  return tokens;
};

interface Listening {
  bytes: number;
  close(): void;
}

const listen = async (
  oiq: OiqProcess,
  tokens: readonly string[],
  query: (index: number) => string,
  deaf: number,
): Promise<Listening> => {
  const sockets: WebSocket[] = [];
  const listening = { bytes: 0, close: () => sockets.forEach((socket) => void socket.terminate()) };
  for (let index = 0; index < listeners; index++) {
    const authorization = `Bearer ${tokens[Math.floor(index / perToken)]}`;
    const socket = new WebSocket(`${oiq.http.replace('http', 'ws')}/ws/live-tail${query(index)}`, {
      headers: { authorization },
    });
    socket.on('message', (frame: Buffer) => {
      listening.bytes += frame.length;
    });
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    socket.removeAllListeners('error').on('error', () => undefined);
    if (index < deaf) socket.pause();
    sockets.push(socket);
  }
  return listening;
};

const outcomes = async ({ http }: OiqProcess): Promise<Record<string, number>> => {
  const text = await (await fetch(`${http}/metrics`)).text();
  const found: Record<string, number> = { sent: 0, dropped: 0, skipped: 0 };
  for (const [, outcome = '', value] of text.matchAll(
    /^oiq_live_tail_records_total\{[^}]*outcome="(\w+)"[^}]*\} (\S+)/gm,
  ))
    found[outcome] = Number(value);
  return found;
};

const scenarios: readonly [name: string, query: ((index: number) => string) | undefined, deaf: number][] = [
  ['no listener', undefined, 0],
  ['one filter: errors of a service', () => '?severity=error&service=checkout', 0],
  ['500 filters: errors of a service and status', (index) => `?severity=error&service=cart&attribute=n=${index}`, 0],
  ['500 filters: a word of the body', (index) => `?search=order${index}`, 0],
  ['everything', () => '', 0],
  ['everything, 100 never read', () => '', 100],
];

export const liveTail = async (): Promise<Row[]> => {
  const directory = scratch();
  const files = bodies(60, (seed) => logsPayload({ seed, records: recordsPerRequest, nowMs: Date.now() })).map(
    (body, index) => {
      const file = join(directory, `${index}.pb`);
      writeFileSync(file, body);
      return file;
    },
  );
  const dataDirectory = join(directory, 'data');
  const licenseKey = await embeddedDeployment(dataDirectory);
  const environment = { ...withoutLimits, OIQ_API_REQUESTS_PER_SECOND: '1000000' };
  const oiq = await startOiq({ dataDirectory, environment });
  const headers = { 'x-license-key': licenseKey, 'content-type': 'application/x-protobuf' };
  const load = { files, recordsPerRequest, connections: 8, headers, url: `${oiq.otlp}/v1/logs` };
  const tokens = await tokensOf(oiq);
  await runLoad({ ...load, seconds: 5, rate: rate / recordsPerRequest });
  const rows: Row[] = [];
  for (const [name, query, deaf] of scenarios) {
    const listening = query === undefined ? undefined : await listen(oiq, tokens, query, deaf);
    const before = { cpu: cpuSeconds(oiq.pid), ...(await outcomes(oiq)) } as Record<string, number>;
    const { records, p50, p99, failed, ...rest } = await runLoad({ ...load, seconds, rate: rate / recordsPerRequest });
    await delay(1_000);
    const after: Record<string, number> = { cpu: cpuSeconds(oiq.pid), ...(await outcomes(oiq)) };
    const more = (what: string): number => (after[what] ?? 0) - (before[what] ?? 0);
    rows.push({
      listeners: query === undefined ? 0 : listeners,
      filter: name,
      'records/s': records / rest.seconds,
      'p50 ms': p50,
      'p99 ms': p99,
      failed,
      cores: more('cpu') / (rest.seconds + 1),
      'RSS MiB': memory(oiq.pid).rss,
      'sent records/s': more('sent') / rest.seconds,
      'sent MiB/s': (listening?.bytes ?? 0) / rest.seconds / 1024 ** 2,
      dropped: more('dropped'),
      skipped: more('skipped'),
    });
    console.error(JSON.stringify(rows.at(-1)));
    listening?.close();
    await delay(1_000);
  }
  await oiq.stop();
  return rows;
};
