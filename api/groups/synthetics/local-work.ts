/** Provides the work of the location `local`, whose probes run in this installation and need no token. */
import { createSecretBox, loadSecretKey } from '../../../runtime/secret-box.ts';
import type { Bus } from '../../../schemas/ports/bus.ts';
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { syntheticChecks } from '../../../schemas/resources/synthetic-check.ts';
import { syntheticRunRequests } from '../../../schemas/resources/synthetic-run-request.ts';
import type { Settings } from '../../../schemas/settings.ts';
import type { ProbeAlarm, ProbePicture, ProbeReport, ProbeResult, Work } from '../../../schemas/synthetic-work.ts';
import { topics } from '../../../schemas/topics.ts';
import { acceptResults } from '../../../subjects/synthetics/accept.ts';
import { localLocation } from '../../../subjects/synthetics/check.ts';
import { requestConfirmationRuns } from '../../../subjects/synthetics/confirmation-runs.ts';
import { storeScreenshot } from '../../../subjects/synthetics/pictures.ts';
import { createWork, requestTtlMs } from '../../../subjects/synthetics/work.ts';
import { createPublisher } from '../../event-publisher.ts';

interface LocalWorkOptions {
  readonly bus: Bus;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'SECRET_KEY' | 'DATA_DIR'>;
}

export const createLocalWork = async ({ bus, documents, clock, settings }: LocalWorkOptions) => {
  const secretBox = createSecretBox(await loadSecretKey(settings));
  const runs = createPublisher(bus, topics.syntheticRuns);
  return {
    async tenants(): Promise<readonly string[]> {
      const tenantIds = new Set<string>();
      for await (const { tenantId } of documents.findInAllTenants(syntheticChecks, { locations: localLocation }))
        tenantIds.add(tenantId);
      // An unsaved check may be tried before the first one is saved.
      const requested = { locations: localLocation, requestedAtMs: { $gte: clock.now() - requestTtlMs } };
      for await (const { tenantId } of documents.findInAllTenants(syntheticRunRequests, requested))
        tenantIds.add(tenantId);
      return [...tenantIds];
    },
    source: (tenantId: string) => ({
      fetchWork: (digest: string | undefined, _: AbortSignal, probeState: ProbeReport): Promise<Work> =>
        createWork(
          documents.forTenant(tenantId),
          { location: localLocation, probe: localLocation, digest, ...probeState, nowMs: clock.now() },
          secretBox,
        ),
      async send(results: readonly ProbeResult[]): Promise<void> {
        const origin = { tenantId, location: localLocation, nowMs: clock.now() };
        const accepted = await acceptResults(documents.forTenant(tenantId), results, origin);
        await runs.publish(...accepted.runs);
      },
      sendAlarms: (alarms: readonly ProbeAlarm[]): Promise<void> =>
        requestConfirmationRuns(documents.forTenant(tenantId), alarms, { location: localLocation, nowMs: clock.now() }),
      async sendScreenshot(picture: ProbePicture): Promise<void> {
        await storeScreenshot(documents.forTenant(tenantId), picture, { location: localLocation, nowMs: clock.now() });
      },
    }),
    close: () => runs.close(),
  };
};
