/** `oiq probe`: runs the checks of a location, anywhere. It needs no store and opens no port. */
import { z } from 'zod';
import { startRemote } from '../probes/index.ts';
import type { Log } from '../schemas/ports/log.ts';
import { probeTokenPrefix } from '../schemas/resources/synthetic-location.ts';
import { parseNetworks } from '../schemas/source-address.ts';
import { parseOptions } from './command-arguments.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq probe

Runs the synthetic checks of a location. It fetches checks from the platform and sends results. It needs no store and no open port.

OIQ_URL             URL of the platform, such as https://oiq.example.com
OIQ_PROBE_TOKEN     the token of the location, which POST /api/synthetics/locations returns once
OIQ_PROBE_NETWORKS  private networks (CIDR) that checks may reach, comma-separated; none by default
OIQ_CHROMIUM        Chromium executable for browser checks; by default the first one in PATH
OIQ_CHROMIUM_SANDBOX  false disables the sandbox of Chromium, which needs user namespaces and does not start for root
`;

const Environment = z.object({
  OIQ_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  OIQ_PROBE_TOKEN: z.string().startsWith(probeTokenPrefix, `must be the token of a location, ${probeTokenPrefix}…`),
  OIQ_CHROMIUM: z.string().min(1).optional(),
  OIQ_CHROMIUM_SANDBOX: z.stringbool().default(true),
  OIQ_PROBE_NETWORKS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    ),
});

const stderrLog: Log = (() => {
  const write = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
    void process.stderr.write(`${JSON.stringify({ level, time: new Date().toISOString(), message, ...fields })}\n`);
  return { info: write('info'), warn: write('warn'), error: write('error') };
})();

export const probeCommand = async ({ args, environment }: CommandContext): Promise<void> => {
  const { help: isHelpRequested } = parseOptions(args, { help: { type: 'boolean', short: 'h' } }, help);
  if (isHelpRequested === true) return void process.stdout.write(help);
  const { data, error } = Environment.safeParse(environment);
  if (data === undefined)
    throw new UsageError(
      `${error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n')}\n\n${help}`,
    );
  try {
    parseNetworks(data.OIQ_PROBE_NETWORKS);
  } catch (cause) {
    throw new UsageError(`OIQ_PROBE_NETWORKS must be networks such as 10.0.0.0/8: ${(cause as Error).message}`);
  }
  const probe = await startRemote({
    url: data.OIQ_URL,
    token: data.OIQ_PROBE_TOKEN,
    networks: data.OIQ_PROBE_NETWORKS,
    log: stderrLog,
    chromium: { program: data.OIQ_CHROMIUM, hasSandbox: data.OIQ_CHROMIUM_SANDBOX },
  });
  const stopRequest = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stopRequest.resolve(signal));
  process.on('disconnect', () => stopRequest.resolve('disconnect'));
  stderrLog.info({ url: data.OIQ_URL }, 'probe started');
  const reason = await stopRequest.promise;
  stderrLog.info({ reason }, 'stopping');
  await probe.stop();
  process.exit();
};
