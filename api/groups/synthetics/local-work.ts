/** The work of the location `local`, which needs no token: its probes run next to the stores. */
import { makeSecretBox, secretKeyOf } from '../../../runtime/secret-box.ts';
import type { Bus } from '../../../schemas/ports/bus.ts';
import type { Clock } from '../../../schemas/ports/clock.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { syntheticChecks } from '../../../schemas/resources/synthetic-check.ts';
import type { Settings } from '../../../schemas/settings.ts';
import type { ProbeAlarm, ProbePicture, ProbeReport, ProbeResult, Work } from '../../../schemas/synthetic-work.ts';
import { topics } from '../../../schemas/topics.ts';
import { acceptedRuns } from '../../../subjects/synthetics/accept.ts';
import { localLocation } from '../../../subjects/synthetics/check.ts';
import { requestConfirmationRuns } from '../../../subjects/synthetics/elsewhere.ts';
import { storePicture } from '../../../subjects/synthetics/pictures.ts';
import { workOf } from '../../../subjects/synthetics/work.ts';
import { openPublisher } from '../../event-publisher.ts';

interface Options {
  readonly bus: Bus;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'SECRET_KEY' | 'DATA_DIR'>;
}

export const openLocalWork = async ({ bus, documents, clock, settings }: Options) => {
  const box = makeSecretBox(await secretKeyOf(settings));
  const runs = openPublisher(bus, topics.syntheticRuns);
  return {
    async tenants(): Promise<readonly string[]> {
      const found = new Set<string>();
      for await (const { tenantId } of documents.everywhere(syntheticChecks, { locations: localLocation }))
        found.add(tenantId);
      return [...found];
    },
    source: (tenantId: string) => ({
      work: (digest: string | undefined, _: AbortSignal, probeState: ProbeReport): Promise<Work> =>
        workOf(
          documents.of(tenantId),
          { location: localLocation, probe: localLocation, digest, ...probeState, nowMs: clock.now() },
          box,
        ),
      async send(results: readonly ProbeResult[]): Promise<void> {
        const from = { tenantId, location: localLocation, nowMs: clock.now() };
        const accepted = await acceptedRuns(documents.of(tenantId), results, from);
        await runs.publish(...accepted.runs);
      },
      alarm: (alarms: readonly ProbeAlarm[]): Promise<void> =>
        requestConfirmationRuns(documents.of(tenantId), alarms, { location: localLocation, nowMs: clock.now() }),
      async show(picture: ProbePicture): Promise<void> {
        await storePicture(documents.of(tenantId), picture, { location: localLocation, nowMs: clock.now() });
      },
    }),
    close: () => runs.close(),
  };
};
