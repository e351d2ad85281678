/** The process of the probes of `local`. It opens no store: what it needs it asks the process that started it, and it ends with that. */
import { lookup } from 'node:dns';
import { openFence } from '../runtime/fence.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Work } from '../schemas/synthetic-work.ts';
import { startLocalProbes } from './local.ts';
import type { Asked, FromProbes, LocalOptions, ToProbes } from './local-messages.ts';

const tell = (message: FromProbes): void => void process.send?.(message);

const logAt =
  (level: keyof Log) =>
  (fields: Readonly<Record<string, unknown>>, message: string): void =>
    tell({
      level,
      fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
      message,
    });
const log: Log = { info: logAt('info'), warn: logAt('warn'), error: logAt('error') };

const open = new Map<number, PromiseWithResolvers<unknown>>();
let asked = 0;

const ask = (what: Asked): Promise<unknown> => {
  const answer = Promise.withResolvers<unknown>();
  open.set(++asked, answer);
  tell({ id: asked, asked: what });
  return answer.promise;
};

const [given = '{}'] = process.argv.slice(2);
const { networks, chromium } = JSON.parse(given) as LocalOptions;
const fence = openFence({
  ...{ allowedNetworks: networks, setting: 'OIQ_OUTBOUND_NETWORKS', resolve: lookup },
});
const role = startLocalProbes(
  {
    tenants: async () => (await ask({ what: 'tenants' })) as readonly string[],
    source: (tenantId) => ({
      work: async (digest, _, told) => (await ask({ what: 'work', tenantId, digest, told })) as Work,
      send: async (results) => void (await ask({ what: 'send', tenantId, results })),
      alarm: async (alarms) => void (await ask({ what: 'alarm', tenantId, alarms })),
      show: async (picture) => void (await ask({ what: 'show', tenantId, picture })),
    }),
    close: () => Promise.resolve(),
  },
  { fence, chromium, log },
);

process.on('message', (message: ToProbes) => {
  if ('stop' in message) {
    void role.stop().finally(() => process.exit());
    return;
  }
  const waiting = open.get(message.id);
  open.delete(message.id);
  if ('error' in message) waiting?.reject(new Error(message.error));
  else waiting?.resolve(message.answer);
});
process.on('disconnect', () => process.exit());
// A signal to all of a terminal is the other process's to hear: it says when to stop.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
