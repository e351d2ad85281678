/** `oiq demo`: sends logs, metrics and traces of a small shop over OTLP/HTTP for a while. */
import { setTimeout as delay } from 'node:timers/promises';
import { parseSettings } from '../schemas/settings.ts';
import { parseOptions } from './command-arguments.ts';
import { sendControlRequest } from './control.ts';
import { Outbox } from './demo/otlp-json.ts';
import { Shop } from './demo/shop.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq demo [--minutes 5] [--visits 5] [--endpoint URL] [--key LICENSE_KEY]

Sends telemetry of a small shop: --visits visits per second for --minutes minutes. Without --key, the running instance of
this data directory creates a license key that expires after a day.
`;

const options = {
  minutes: { type: 'string', default: '5' },
  visits: { type: 'string', default: '5' },
  endpoint: { type: 'string' },
  key: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const signals = [
  ['logs', 'resourceLogs', 'scopeLogs', 'logRecords'],
  ['metrics', 'resourceMetrics', 'scopeMetrics', 'metrics'],
  ['traces', 'resourceSpans', 'scopeSpans', 'spans'],
] as const;

export const demoCommand = async ({ args, environment }: CommandContext): Promise<void> => {
  const values = parseOptions(args, options, help);
  if (values.help === true) {
    process.stdout.write(help);
    return;
  }
  const minutes = Number(values.minutes);
  const visits = Number(values.visits);
  if (!(minutes > 0) || !(visits > 0)) throw new UsageError(`--minutes and --visits must be above 0\n\n${help}`);
  const settings = parseSettings(environment);
  const [key, instance] = values.key === undefined ? await fetchLicenseKey(settings.DATA_DIR) : [values.key];
  const endpoint = values.endpoint ?? instance ?? `http://${settings.OTLP_HTTP_ADDRESS}`;
  process.stdout.write(`sending ${visits} visits a second to ${endpoint} for ${minutes} minutes (Ctrl-C stops it)\n`);
  await sendShopTelemetry(endpoint, key, minutes * 60, visits);
};

/** Returns a license key of the running instance, and its OTLP endpoint. */
const fetchLicenseKey = async (dataDirectory: string): Promise<[key: string, endpoint?: string]> => {
  const lines: string[] = [];
  const hasInstance = await sendControlRequest(dataDirectory, { action: 'demo-key' }, (line) => {
    lines.push(line);
  });
  if (!hasInstance)
    throw new UsageError(
      'no instance is running on this data directory: start one (npm start), or pass --endpoint and --key',
    );
  const [key = '', endpoint] = lines;
  return endpoint === undefined ? [key] : [key, endpoint];
};

const sendShopTelemetry = async (endpoint: string, key: string, seconds: number, visits: number): Promise<void> => {
  const outboxes = { logs: new Outbox(), metrics: new Outbox(), traces: new Outbox() };
  const shop = new Shop(outboxes);
  const sentCounts = { logs: 0, metrics: 0, traces: 0 };
  for (let second = 0; second < seconds; second++) {
    for (let visit = 0; visit < visits; visit++) shop.simulateVisit();
    if (second % 10 === 0) shop.recordMetrics();
    for (const [signal, group, scope, list] of signals) {
      const count = outboxes[signal].count;
      if (count === 0) continue;
      await sendExportRequest(`${endpoint}/v1/${signal}`, key, outboxes[signal].drain(group, scope, list));
      sentCounts[signal] += count;
    }
    if (second % 10 === 9)
      process.stdout.write(
        `sent ${sentCounts.logs} log records, ${sentCounts.traces} spans, ${sentCounts.metrics} data points\n`,
      );
    await delay(1_000);
  }
  process.stdout.write(
    `done: ${sentCounts.logs} log records, ${sentCounts.traces} spans, ${sentCounts.metrics} data points\n`,
  );
};

const sendExportRequest = async (url: string, key: string, body: string): Promise<void> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-license-key': key },
    body,
  }).catch((cause: unknown) => {
    throw new Error(`${url} is unreachable: is an instance running?`, { cause });
  });
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
};
