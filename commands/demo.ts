/** `oiq demo`: sends logs, metrics and traces of a small shop over OTLP/HTTP for a while. */
import { parseSettings } from '../schemas/settings.ts';
import { parseOptions } from './command-arguments.ts';
import { sendControlRequest } from './control.ts';
import { type SentCounts, sendShopTelemetry } from './demo/send-telemetry.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq demo [--minutes 5] [--visits 5] [--endpoint URL] [--key LICENSE_KEY]

Sends telemetry of a small shop: --visits visits per second for --minutes minutes. In the middle, a release of payments makes
charges slow and fail, until it is rolled back. Without --key, the running instance of
this data directory creates a license key that expires after a day.
`;

const options = {
  minutes: { type: 'string', default: '5' },
  visits: { type: 'string', default: '5' },
  endpoint: { type: 'string' },
  key: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const formatCounts = ({ logs, traces, metrics }: SentCounts): string =>
  `${logs} log records, ${traces} spans, ${metrics} data points`;

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
  const sent = await sendShopTelemetry({
    endpoint,
    key,
    historySeconds: 0,
    liveSeconds: minutes * 60,
    visits,
    onProgress: (counts) => process.stdout.write(`sent ${formatCounts(counts)}\n`),
  });
  process.stdout.write(`done: ${formatCounts(sent)}\n`);
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
