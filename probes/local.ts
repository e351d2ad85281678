/** The location `local`: a probe for each organization that has checks or requested runs there, next to the stores. */
import type { EgressPolicy } from '../runtime/egress-policy.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Role } from '../schemas/ports/role.ts';
import { RateLimiter } from './pace.ts';
import { type RunningProbe, startProbe, type WorkSource } from './probe.ts';
import type { ChromiumOptions } from './runner.ts';

/** The work of the probes of `local`. */
export interface LocalWork {
  /** Organizations with checks or requested runs there */
  tenants(): Promise<readonly string[]>;
  source(tenantId: string): WorkSource;
  close(): Promise<void>;
}

const checkIntervalMs = 2000;

export const startLocalProbes = (
  work: LocalWork,
  {
    egressPolicy,
    chromium,
    log,
  }: { readonly egressPolicy: EgressPolicy; readonly chromium: ChromiumOptions; readonly log: Log },
): Role => {
  const pace = new RateLimiter();
  const probes = new Map<string, RunningProbe>();
  const stopped = Promise.withResolvers<void>();
  let checking: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    try {
      const tenants = new Set(await work.tenants());
      for (const tenantId of tenants)
        if (!probes.has(tenantId))
          probes.set(tenantId, startProbe({ source: work.source(tenantId), egressPolicy, pace, chromium, log }));
      for (const [tenantId, probe] of probes)
        if (!tenants.has(tenantId)) {
          probes.delete(tenantId);
          await probe.stop();
        }
    } catch (error) {
      log.warn({ error: String(error) }, 'organizations with checks at this location cannot be read');
    }
  };
  const checkOnce = (): void => {
    checking ??= check().finally(() => {
      checking = undefined;
    });
  };
  checkOnce();
  const timer = setInterval(checkOnce, checkIntervalMs);
  return {
    name: 'probes',
    checkReady: () => Promise.resolve(),
    async stop() {
      clearInterval(timer);
      await checking;
      await Promise.all([...probes.values()].map((probe) => probe.stop()));
      await work.close();
      stopped.resolve();
    },
    failure: stopped.promise,
  };
};
