/**
 * Alerts organizations about locations of synthetic checks whose results do not count: they do not report, or they fail
 * checks that pass at other locations.
 */

import { iterateDocuments } from '../../runtime/documents-in.ts';
import { defineJob } from '../../runtime/jobs.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import { maxChecks, syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { syntheticLocations, syntheticProbeContacts } from '../../schemas/resources/synthetic-location.ts';
import { type SyntheticSuspect, syntheticSuspects } from '../../schemas/resources/synthetic-notification.ts';
import {
  createSuspectAlertSubject,
  describeSuspect,
  platformTransition,
} from '../../subjects/alerts/platform-alerts.ts';
import { localLocation } from '../../subjects/synthetics/check.ts';
import { parseCheck } from '../../subjects/synthetics/read-checks.ts';
import { readLatest } from '../../subjects/synthetics/stored-results.ts';
import { findSuspectLocations } from '../../subjects/synthetics/suspects.ts';
import { publishTransition } from './notify.ts';
import type { GapPorts } from './on-call-gaps.ts';

export interface SuspectPorts extends GapPorts {
  readonly columns: Columns;
}

type DetectedSuspect = Pick<SyntheticSuspect, 'name' | 'reason'>;

/** Suspect locations of an organization, by id. */
const findSuspects = async (
  { documents, columns, clock }: SuspectPorts,
  tenantId: string,
): Promise<ReadonlyMap<string, DetectedSuspect>> => {
  const tenantDocuments = documents.forTenant(tenantId);
  const [{ items: storedChecks }, locations, contacts, latest] = await Promise.all([
    tenantDocuments.collection(syntheticChecks).list({ filter: { enabled: true }, limit: maxChecks }),
    tenantDocuments.collection(syntheticLocations).list(),
    tenantDocuments.collection(syntheticProbeContacts).list({ sort: { lastSeenAt: 1 } }),
    readLatest({ columns: columns.forTenant(tenantId) }),
  ]);
  const latestCheckUpdateMs = (location: string): number =>
    // A check that has just started to run there is not missing yet.
    Math.max(
      ...storedChecks.flatMap((check) => (check.locations.includes(location) ? [Date.parse(check.updatedAt)] : [])),
    );
  const names = new Map([
    [localLocation, 'Local'],
    ...locations.items.map(({ id, name }): [string, string] => [id, name]),
  ]);
  const suspects = findSuspectLocations({
    checks: storedChecks.flatMap((check) => parseCheck(check) ?? []),
    latest,
    nowMs: clock.now(),
    sinceMs: latestCheckUpdateMs,
    lastSeenAtMs: new Map(contacts.items.map(({ location, lastSeenAt }) => [location, Date.parse(lastSeenAt)])),
  });
  return new Map([...suspects].map(([id, reason]) => [id, { name: names.get(id) ?? id, reason }]));
};

/**
 * Starts or ends the alert of a location. It is published first and then stored, so that it cannot be lost: a repeated
 * publication has the same id.
 */
const updateAlert = async (
  ports: SuspectPorts,
  tenantId: string,
  {
    id,
    storedSuspect,
    detectedSuspect,
  }: {
    readonly id: string;
    readonly storedSuspect: (SyntheticSuspect & StoredMetadata) | undefined;
    readonly detectedSuspect: DetectedSuspect | undefined;
  },
): Promise<void> => {
  const { documents, clock } = ports;
  const suspectCollection = documents.forTenant(tenantId).collection(syntheticSuspects);
  const publishSuspect = (suspect: SyntheticSuspect, end?: { readonly atMs: number; readonly reason: string }) =>
    publishTransition(
      ports,
      platformTransition(
        tenantId,
        createSuspectAlertSubject(id, suspect),
        { ...suspect, reason: describeSuspect(suspect) },
        end,
      ),
    );
  if (storedSuspect !== undefined && storedSuspect.reason !== detectedSuspect?.reason) {
    await publishSuspect(storedSuspect, {
      atMs: clock.now(),
      reason: 'its results count again, or it is no longer used',
    });
    await suspectCollection.delete(id);
  }
  if (detectedSuspect === undefined || storedSuspect?.reason === detectedSuspect.reason) return;
  const suspect = { ...detectedSuspect, startedAt: new Date(clock.now()).toISOString() };
  await publishSuspect(suspect);
  await suspectCollection.insert({ id, ...suspect });
};

/** Starts and ends the alerts of an organization. All alerts of a disabled one end. */
const checkTenant = async (ports: SuspectPorts, tenantId: string, isDisabled: boolean): Promise<void> => {
  const suspects: ReadonlyMap<string, DetectedSuspect> = isDisabled ? new Map() : await findSuspects(ports, tenantId);
  const storedSuspects = new Map<string, SyntheticSuspect & StoredMetadata>();
  for await (const suspect of iterateDocuments(ports.documents.forTenant(tenantId).collection(syntheticSuspects)))
    storedSuspects.set(suspect.id, suspect);
  for (const id of new Set([...storedSuspects.keys(), ...suspects.keys()]))
    await updateAlert(ports, tenantId, {
      id,
      storedSuspect: storedSuspects.get(id),
      detectedSuspect: suspects.get(id),
    });
};

/** Checks the locations of all organizations that have checks. A failed check does not affect the others. */
export const detectSuspects = async (ports: SuspectPorts, signal: AbortSignal): Promise<void> => {
  const { documents, log } = ports;
  const tenantIds = new Set<string>();
  for await (const { tenantId } of documents.findInAllTenants(syntheticChecks)) tenantIds.add(tenantId);
  for await (const { tenantId } of documents.findInAllTenants(syntheticSuspects)) tenantIds.add(tenantId);
  const disabledTenantIds = new Set<string>();
  for await (const { id } of documents.findInAllTenants(organizations, { disabled: true })) disabledTenantIds.add(id);
  for (const tenantId of tenantIds) {
    if (signal.aborted) return;
    await checkTenant(ports, tenantId, disabledTenantIds.has(tenantId)).catch((error: unknown) =>
      log.warn({ error, tenantId }, 'suspect locations could not be detected'),
    );
  }
};

export const suspectLocationsJob = defineJob<SuspectPorts>({
  name: 'suspect-locations',
  summary: 'Alert organizations about locations of synthetic checks whose results do not count',
  everyMs: 30_000,
  scope: 'installation',
  run: detectSuspects,
});
