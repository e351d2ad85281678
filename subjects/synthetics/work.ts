/** Work of a location: its checks, distributed among its probes, and manually requested runs */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { type SyntheticProbeContact, syntheticProbeContacts } from '../../schemas/resources/synthetic-location.ts';
import { syntheticRunRequests } from '../../schemas/resources/synthetic-run-request.ts';
import { maxVariables, syntheticVariables } from '../../schemas/resources/synthetic-variable.ts';
import type { ProbeReport, ProbeVariable, Work, WorkItem } from '../../schemas/synthetic-work.ts';
import { listVariables } from './check.ts';
import { type IdentifiedCheck, parseUnsavedCheck, readChecks } from './read-checks.ts';

/** Purpose for which values are sealed */
export const variablePurpose = 'synthetic-variable';

/** Time without contact after which a probe is replaced */
export const probeTimeoutMs = 25_000;
/** Interval at which contact of a probe is recorded */
const contactIntervalMs = 10_000;
const maxContactAgeMs = 86_400_000;
/** Time after which a requested run is no longer started */
export const requestTtlMs = 30_000;

const computeDigest = (text: string): string => createHash('sha256').update(text).digest('hex');

type ContactInfo = Pick<SyntheticProbeContact, 'unsupportedTypes' | 'clockAheadMs'>;

/**
 * Returns whether a probe's contact contains new information. The clock offset is ignored, because it differs in
 * each contact.
 */
const isContactChanged = (before: ContactInfo, now: ContactInfo): boolean =>
  !isDeepStrictEqual(before.unsupportedTypes, now.unsupportedTypes) ||
  (before.clockAheadMs === undefined) !== (now.clockAheadMs === undefined);

/** Returns the recently active probes of a location, including this one; records its contact. */
const recordContact = async (
  documents: TenantDocuments,
  { location, probe, unsupportedTypes: cannot = [], clockAheadMs, nowMs }: Omit<WorkRequest, 'digest'>,
): Promise<readonly string[]> => {
  const contacts = documents.collection(syntheticProbeContacts);
  const { items } = await contacts.list({ filter: { location } });
  const getAgeMs = ({ lastSeenAt }: SyntheticProbeContact): number => nowMs - Date.parse(lastSeenAt);
  const existing = items.find((one) => one.probe === probe);
  const clock = clockAheadMs === undefined ? {} : { clockAheadMs };
  const contact = { location, probe, lastSeenAt: new Date(nowMs).toISOString(), unsupportedTypes: cannot, ...clock };
  if (existing === undefined) await contacts.insert(contact);
  else if (getAgeMs(existing) >= contactIntervalMs || isContactChanged(existing, contact))
    await contacts.replace(existing.id, contact);
  for (const one of items) if (getAgeMs(one) > maxContactAgeMs) await contacts.delete(one.id);
  const activeProbes = items.filter((one) => getAgeMs(one) < probeTimeoutMs).map((one) => one.probe);
  return [...new Set([probe, ...activeProbes])];
};

/**
 * Returns the probe of a location that runs a check. The result is the same for all probes, and checks of other probes
 * do not move when a probe is added or removed.
 */
const assignProbe = (checkId: string, probes: readonly string[]): string | undefined =>
  probes.toSorted((left, right) =>
    computeDigest(`${checkId}\0${left}`) < computeDigest(`${checkId}\0${right}`) ? -1 : 1,
  )[0];

const readVariables = async (
  documents: TenantDocuments,
  secretBox: SecretBox,
): Promise<ReadonlyMap<string, ProbeVariable>> => {
  const { items } = await documents.collection(syntheticVariables).list({ limit: maxVariables });
  return new Map(
    items.flatMap(({ id, isSecret, value, hosts }): [string, ProbeVariable][] => {
      if (!isSecret) return [[id, { value }]];
      const secretValue = secretBox.open(variablePurpose, value);
      return secretValue === undefined ? [] : [[id, { value: secretValue, hosts: [...hosts] }]];
    }),
  );
};

interface WorkRequest extends ProbeReport {
  readonly location: string;
  readonly probe: string;
  /** Digest of the work that the probe already has */
  readonly digest?: string | undefined;
  readonly nowMs: number;
}

/** Returns the work of a probe. A check includes only the secrets that it uses. */
export const createWork = async (
  documents: TenantDocuments,
  { digest: knownDigest, ...request }: WorkRequest,
  secretBox: SecretBox,
): Promise<Work> => {
  const { location, probe, nowMs } = request;
  const probes = await recordContact(documents, request);
  const isAssigned = (check: IdentifiedCheck): boolean => assignProbe(check.id, probes) === probe;
  const checks = (await readChecks(documents, { locations: location })).filter(isAssigned);
  const variables = await readVariables(documents, secretBox);
  const toWorkItem = (check: IdentifiedCheck): WorkItem => ({
    check,
    variables: Object.fromEntries(
      listVariables(check).flatMap((name) => {
        const variable = variables.get(name);
        return variable === undefined ? [] : [[name, variable]];
      }),
    ),
  });
  const work = checks.filter(({ enabled }) => enabled).map(toWorkItem);
  const digest = computeDigest(JSON.stringify(work));
  const { items: runRequests } = await documents
    .collection(syntheticRunRequests)
    .list({ filter: { locations: location } });
  const openRequests = runRequests.filter(
    (runRequest) => nowMs - runRequest.requestedAtMs < requestTtlMs && !Object.hasOwn(runRequest.results, location),
  );
  return {
    location,
    atMs: nowMs,
    probes: probes.length,
    digest,
    checks: digest === knownDigest ? null : work,
    requestedRuns: openRequests.flatMap((openRequest) => {
      const check = parseUnsavedCheck(openRequest) ?? checks.find(({ id }) => id === openRequest.checkId);
      return check === undefined || !isAssigned(check)
        ? []
        : [{ ...toWorkItem(check), requestId: openRequest.id, requestedAtMs: openRequest.requestedAtMs }];
    }),
  };
};
