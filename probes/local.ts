/** The location `local`: a probe for each organization that has checks there, beside the stores. */
import type { Fence } from '../runtime/fence.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Role } from '../schemas/ports/role.ts';
import { Pace } from './pace.ts';
import { type RunningProbe, type Source, startProbe } from './probe.ts';
import type { ChromiumOptions } from './runner.ts';

/** What the probes of `local` work for. */
export interface LocalWork {
  /** Organizations that have checks there. */
  tenants(): Promise<readonly string[]>;
  source(tenantId: string): Source;
  close(): Promise<void>;
}

const lookMs = 2000;

export const startLocalProbes = (
  work: LocalWork,
  { fence, chromium, log }: { readonly fence: Fence; readonly chromium: ChromiumOptions; readonly log: Log },
): Role => {
  const pace = new Pace();
  const probes = new Map<string, RunningProbe>();
  const stopped = Promise.withResolvers<void>();
  let looking: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    try {
      const tenants = new Set(await work.tenants());
      for (const tenantId of tenants)
        if (!probes.has(tenantId))
          probes.set(tenantId, startProbe({ source: work.source(tenantId), fence, pace, chromium, log }));
      for (const [tenantId, probe] of probes)
        if (!tenants.has(tenantId)) {
          probes.delete(tenantId);
          await probe.stop();
        }
    } catch (error) {
      log.warn({ error: String(error) }, 'which organizations have checks here cannot be read');
    }
  };
  const lookOnce = (): void => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  };
  lookOnce();
  const timer = setInterval(lookOnce, lookMs);
  return {
    name: 'probes',
    ready: () => Promise.resolve(),
    async stop() {
      clearInterval(timer);
      await looking;
      await Promise.all([...probes.values()].map((probe) => probe.stop()));
      await work.close();
      stopped.resolve();
    },
    failed: stopped.promise,
  };
};
