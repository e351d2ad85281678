/**
 * Alerts organizations about locations of synthetic checks without a vote: they are silent, or fail checks that pass
 * elsewhere.
 */

import { documentsIn } from '../../runtime/documents-in.ts';
import { defineJob } from '../../runtime/jobs.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import { maxChecks, syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { syntheticLocations, syntheticProbeContacts } from '../../schemas/resources/synthetic-location.ts';
import { type SyntheticSuspect, syntheticSuspects } from '../../schemas/resources/synthetic-notification.ts';
import { aboutSuspect, platformTransition, suspectReason } from '../../subjects/alerts/platform-alerts.ts';
import { localLocation } from '../../subjects/synthetics/check.ts';
import { readCheck } from '../../subjects/synthetics/known.ts';
import { readLatest } from '../../subjects/synthetics/stored-results.ts';
import { suspectLocations } from '../../subjects/synthetics/suspects.ts';
import { publishTransition } from './notify.ts';
import type { GapPorts } from './on-call-gaps.ts';

export interface SuspectPorts extends GapPorts {
  readonly columns: Columns;
}

type Found = Pick<SyntheticSuspect, 'name' | 'reason'>;

/** Suspect locations of an organization, by id. */
const find = async (
  { documents, columns, clock }: SuspectPorts,
  tenantId: string,
): Promise<ReadonlyMap<string, Found>> => {
  const own = documents.of(tenantId);
  const [{ items: stored }, locations, contacts, latest] = await Promise.all([
    own.collection(syntheticChecks).list({ filter: { enabled: true }, limit: maxChecks }),
    own.collection(syntheticLocations).list(),
    own.collection(syntheticProbeContacts).list({ sort: { lastSeenAt: 1 } }),
    readLatest({ columns: columns.of(tenantId) }),
  ]);
  const since = (location: string): number =>
    // A check that has just started to run there is not missing yet.
    Math.max(...stored.flatMap((check) => (check.locations.includes(location) ? [Date.parse(check.updatedAt)] : [])));
  const names = new Map([
    [localLocation, 'Local'],
    ...locations.items.map(({ id, name }): [string, string] => [id, name]),
  ]);
  const suspects = suspectLocations({
    checks: stored.flatMap((check) => readCheck(check) ?? []),
    latest,
    nowMs: clock.now(),
    sinceMs: since,
    lastSeenAtMs: new Map(contacts.items.map(({ location, lastSeenAt }) => [location, Date.parse(lastSeenAt)])),
  });
  return new Map([...suspects].map(([id, reason]) => [id, { name: names.get(id) ?? id, reason }]));
};

/** Starts or ends the alert of a location. Publishes first, then stores; a repeated publication is the same alert. */
const updateAlert = async (
  ports: SuspectPorts,
  tenantId: string,
  {
    id,
    known,
    found,
  }: {
    readonly id: string;
    readonly known: (SyntheticSuspect & Stored) | undefined;
    readonly found: Found | undefined;
  },
): Promise<void> => {
  const { documents, clock } = ports;
  const stored = documents.of(tenantId).collection(syntheticSuspects);
  const transit = (suspect: SyntheticSuspect, ended?: { readonly atMs: number; readonly reason: string }) =>
    publishTransition(
      ports,
      platformTransition(tenantId, aboutSuspect(id, suspect), { ...suspect, reason: suspectReason(suspect) }, ended),
    );
  if (known !== undefined && known.reason !== found?.reason) {
    await transit(known, { atMs: clock.now(), reason: 'its results count again, or it is not needed any more' });
    await stored.delete(id);
  }
  if (found === undefined || known?.reason === found.reason) return;
  const suspect = { ...found, startedAt: new Date(clock.now()).toISOString() };
  await transit(suspect);
  await stored.insert({ id, ...suspect });
};

/** Starts and ends the alerts of an organization. All alerts of a disabled one end. */
const checkTenant = async (ports: SuspectPorts, tenantId: string, isDisabled: boolean): Promise<void> => {
  const found: ReadonlyMap<string, Found> = isDisabled ? new Map() : await find(ports, tenantId);
  const known = new Map<string, SyntheticSuspect & Stored>();
  for await (const one of documentsIn(ports.documents.of(tenantId).collection(syntheticSuspects)))
    known.set(one.id, one);
  for (const id of new Set([...known.keys(), ...found.keys()]))
    await updateAlert(ports, tenantId, { id, known: known.get(id), found: found.get(id) });
};

/** Checks the locations of all organizations that have checks. A failed check does not affect the others. */
export const detectSuspects = async (ports: SuspectPorts, signal: AbortSignal): Promise<void> => {
  const { documents, log } = ports;
  const tenants = new Set<string>();
  for await (const { tenantId } of documents.everywhere(syntheticChecks)) tenants.add(tenantId);
  for await (const { tenantId } of documents.everywhere(syntheticSuspects)) tenants.add(tenantId);
  const disabled = new Set<string>();
  for await (const { id } of documents.everywhere(organizations, { disabled: true })) disabled.add(id);
  for (const tenantId of tenants) {
    if (signal.aborted) return;
    await checkTenant(ports, tenantId, disabled.has(tenantId)).catch((error: unknown) =>
      log.warn({ error, tenantId }, 'suspect locations could not be detected'),
    );
  }
};

export const suspectLocationsJob = defineJob<SuspectPorts>({
  name: 'suspect-locations',
  summary: 'Alert organizations about locations of synthetic checks without a vote',
  everyMs: 30_000,
  scope: 'installation',
  run: detectSuspects,
});
