/**
 * The process of the probes of `local`. It opens no store: it requests data from its parent process, and ends with it.
 */
import { lookup } from 'node:dns';
import { createEgressPolicy } from '../runtime/egress-policy.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Work } from '../schemas/synthetic-work.ts';
import { startLocalProbes } from './local.ts';
import type { FromProbes, LocalOptions, ProbeRequest, ToProbes } from './local-messages.ts';

const send = (message: FromProbes): void => void process.send?.(message);

const createLogMethod =
  (level: keyof Log) =>
  (fields: Readonly<Record<string, unknown>>, message: string): void =>
    send({
      level,
      fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
      message,
    });
const log: Log = { info: createLogMethod('info'), warn: createLogMethod('warn'), error: createLogMethod('error') };

const pendingRequests = new Map<number, PromiseWithResolvers<unknown>>();
let lastRequestId = 0;

const request = (probeRequest: ProbeRequest): Promise<unknown> => {
  const response = Promise.withResolvers<unknown>();
  pendingRequests.set(++lastRequestId, response);
  send({ id: lastRequestId, request: probeRequest });
  return response.promise;
};

const [optionsText = '{}'] = process.argv.slice(2);
const { networks, chromium } = JSON.parse(optionsText) as LocalOptions;
const egressPolicy = createEgressPolicy({
  allowedNetworks: networks,
  setting: 'OIQ_OUTBOUND_NETWORKS',
  resolve: lookup,
});
const role = startLocalProbes(
  {
    tenants: async () => (await request({ what: 'tenants' })) as readonly string[],
    source: (tenantId) => ({
      fetchWork: async (digest, _, probeState) =>
        (await request({ what: 'work', tenantId, digest, probeState })) as Work,
      send: async (results) => void (await request({ what: 'send', tenantId, results })),
      sendAlarms: async (alarms) => void (await request({ what: 'alarm', tenantId, alarms })),
      sendScreenshot: async (picture) => void (await request({ what: 'show', tenantId, picture })),
    }),
    close: () => Promise.resolve(),
  },
  { egressPolicy, chromium, log },
);

process.on('message', (message: ToProbes) => {
  if ('stop' in message) {
    void role.stop().finally(() => process.exit());
    return;
  }
  const pendingRequest = pendingRequests.get(message.id);
  pendingRequests.delete(message.id);
  if ('error' in message) pendingRequest?.reject(new Error(message.error));
  else pendingRequest?.resolve(message.answer);
});
process.on('disconnect', () => process.exit());
// A signal to all processes of a terminal is handled by the parent, which decides when to stop.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
