/** Probes for the rest of the process. The code behind this module is loaded on first use. */

import { lookup } from 'node:dns';
import type { Log } from '../schemas/ports/log.ts';
import type { Role } from '../schemas/ports/role.ts';
import type { LocalWork } from './local.ts';
import type { LocalOptions } from './local-messages.ts';
import type { RunningProbe } from './probe.ts';
import type { ChromiumOptions } from './runner.ts';

export type { LocalWork } from './local.ts';
export type { RunningProbe, WorkSource } from './probe.ts';

/** Runs the checks of `local` in a separate process. They can reach the same private networks as other requests. */
export const startLocal = async (work: LocalWork, options: LocalOptions & { readonly log: Log }): Promise<Role> =>
  (await import('./local-process.ts')).startLocalProcess(work, options);

/** Runs the checks of a location through the API of the platform. */
export const startRemote = async ({
  url,
  token,
  networks,
  chromium,
  log,
}: {
  readonly url: string;
  readonly token: string;
  readonly networks: readonly string[];
  readonly chromium: ChromiumOptions;
  readonly log: Log;
}): Promise<RunningProbe> => {
  const { createEgressPolicy } = await import('../runtime/egress-policy.ts');
  const { createHttpSource } = await import('./http-source.ts');
  const { claimProbeName } = await import('./probe-name.ts');
  const egressPolicy = createEgressPolicy({
    allowedNetworks: networks,
    setting: 'OIQ_PROBE_NETWORKS',
    resolve: lookup,
  });
  const source = createHttpSource({
    url,
    token,
    probe: claimProbeName(`${url} ${token}`),
    onRejected: (reasons) => log.warn({ refused: reasons.length, reason: reasons[0] }, 'results were refused'),
  });
  const { RateLimiter } = await import('./pace.ts');
  return (await import('./probe.ts')).startProbe({ source, egressPolicy, pace: new RateLimiter(), chromium, log });
};
