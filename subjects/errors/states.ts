/**
 * Status of a group, derived from user decisions and later occurrences. No background job is involved, so no transition
 * can be missed.
 */

import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { addToList } from '../../schemas/add-to-list.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { ErrorGroupState, ErrorStatus } from '../../schemas/resources/error-group.ts';
import type { ErrorDecisions, FingerprintMerges } from './merges.ts';
import { createIncludedScope } from './scope.ts';

/** Current status of an error group */
export interface ErrorGroupStatus {
  readonly status: ErrorStatus;
  /** Whether the error occurred again after it was resolved */
  readonly isRegressed: boolean;
  readonly regressedAt: string | null;
  /** Whether the group was ignored and that period has ended */
  readonly hasIgnoreExpired: boolean;
  readonly decided: (ErrorGroupState & StoredMetadata) | undefined;
}

const unresolved: ErrorGroupStatus = {
  status: 'unresolved',
  isRegressed: false,
  regressedAt: null,
  hasIgnoreExpired: false,
  decided: undefined,
};

/** Last occurrence of a group, by service and version */
interface ReleaseOccurrence {
  readonly service: string;
  readonly release: string;
  readonly lastNs: bigint;
}

const toNs = (iso: string): bigint => BigInt(Date.parse(iso)) * 1_000_000n;

/** First occurrence of each version of a service */
export class Releases {
  readonly #first = new Map<string, bigint>();

  constructor(rows: readonly { readonly service: string; readonly release: string; readonly first: string }[]) {
    for (const { service, release, first } of rows) this.#first.set(`${service}\n${release}`, BigInt(first));
  }

  /** Returns whether a version was first seen after a time. */
  isAfter(service: string, release: string, ns: bigint): boolean {
    return release !== '' && (this.#first.get(`${service}\n${release}`) ?? -1n) > ns;
  }

  /**
   * Returns whether a version equals another one or was first seen in the service no earlier. A version that was never
   * seen is after all others.
   */
  isSameOrNewer(service: string, release: string, otherRelease: string): boolean {
    if (release === otherRelease) return true;
    const [ownFirstNs, otherFirstNs] = [release, otherRelease].map((version) =>
      this.#first.get(`${service}\n${version}`),
    );
    return otherFirstNs !== undefined && ownFirstNs !== undefined && ownFirstNs >= otherFirstNs;
  }
}

/** Returns whether a later occurrence reopens a resolved group. An occurrence without a version always does. */
const reopensGroup = (
  { resolvedIn, changedAt }: Pick<ErrorGroupState, 'resolvedIn' | 'changedAt'>,
  { service, release }: Pick<ReleaseOccurrence, 'service' | 'release'>,
  releases: Releases,
): boolean => {
  if (resolvedIn === null || release === '') return true;
  return 'version' in resolvedIn
    ? releases.isSameOrNewer(service, release, resolvedIn.version)
    : releases.isAfter(service, release, toNs(changedAt));
};

/** Returns the status of a decision, given the group's last occurrences and their number since. */
export const resolveGroupStatus = (
  decided: ErrorGroupState & StoredMetadata,
  {
    lastOccurrences,
    countSince,
    releases,
    nowMs,
  }: {
    readonly lastOccurrences: readonly ReleaseOccurrence[];
    readonly countSince: number;
    readonly releases: Releases;
    readonly nowMs: number;
  },
): Omit<ErrorGroupStatus, 'regressedAt'> => {
  const changedNs = toNs(decided.changedAt);
  const later = lastOccurrences.filter(({ lastNs }) => lastNs > changedNs);
  if (decided.status === 'resolved') {
    const isRegressed = later.some((occurrence) => reopensGroup(decided, occurrence, releases));
    return { ...unresolved, status: isRegressed ? 'unresolved' : 'resolved', isRegressed, decided };
  }
  if (decided.status === 'unresolved') return { ...unresolved, decided };
  const { time, occurrences, nextVersion } = decided.ignoredUntil ?? {};
  const hasExpired =
    (time !== undefined && Date.parse(time) <= nowMs) ||
    (occurrences !== undefined && countSince >= occurrences) ||
    (nextVersion === true && later.some(({ service, release }) => releases.isAfter(service, release, changedNs)));
  return { ...unresolved, status: hasExpired ? 'unresolved' : 'ignored', hasIgnoreExpired: hasExpired, decided };
};

/** Returns the last occurrences of groups. */
const readLastOccurrences = async (
  reader: TenantReader,
  merges: FingerprintMerges,
  ids: readonly string[],
): Promise<Map<string, ReleaseOccurrence[]>> => {
  const { condition, parameters } = createIncludedScope(reader, {});
  const rows = await reader.columns.query<{ id: string; service: string; release: string; last: string }>(
    `SELECT ${merges.sql.group} AS id, service, release, toString(toUnixTimestamp64Nano(max(last_seen))) AS last
    FROM error_groups WHERE ${condition} AND fingerprint IN {fingerprints:Array(String)} GROUP BY id, service, release LIMIT 100000`,
    { ...parameters, ...merges.sql.parameters, fingerprints: ids.flatMap((id) => merges.getMembers(id)) },
  );
  const occurrencesByGroup = new Map<string, ReleaseOccurrence[]>();
  for (const { id, service, release, last } of rows)
    addToList(occurrencesByGroup, id, { service, release, lastNs: BigInt(last) });
  return occurrencesByGroup;
};

const readReleases = async ({ columns }: TenantReader, services: readonly string[]): Promise<Releases> =>
  new Releases(
    services.length === 0
      ? []
      : await columns.query(
          `SELECT service, attributes['service.version'] AS release, toString(min(toUnixTimestamp64Nano(toDateTime64(first_seen, 9, 'UTC')))) AS first
          FROM resources WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND release != ''
          GROUP BY service, release LIMIT 100000`,
          { services },
        ),
  );

interface ChangedGroup {
  readonly id: string;
  readonly changedAt: string;
}

/** Returns SQL of occurrences after the decision about each group; `id` is the group. */
const buildLaterOccurrences = (
  reader: TenantReader,
  merges: FingerprintMerges,
  changedGroups: readonly ChangedGroup[],
) => {
  const { condition, parameters } = createIncludedScope(reader, {});
  const earliestMs = Math.min(...changedGroups.map(({ changedAt }) => Date.parse(changedAt)));
  return {
    condition: `${condition} AND fingerprint IN {fingerprints:Array(String)} AND timestamp > fromUnixTimestamp64Milli({earliest:Int64}, 'UTC')
      AND toUnixTimestamp64Nano(timestamp) > transform(id, {ids:Array(String)}, {after:Array(Int64)}, toInt64(0))`,
    parameters: {
      ...parameters,
      ...merges.sql.parameters,
      earliest: String(earliestMs),
      fingerprints: changedGroups.flatMap(({ id }) => merges.getMembers(id)),
      ids: changedGroups.map(({ id }) => id),
      after: changedGroups.map(({ changedAt }) => String(toNs(changedAt))),
    },
  };
};

/** Returns the number of occurrences since the decision about each group. */
const countSinceDecision = async (
  reader: TenantReader,
  merges: FingerprintMerges,
  changedGroups: readonly ChangedGroup[],
): Promise<Map<string, number>> => {
  if (changedGroups.length === 0) return new Map();
  const { condition, parameters } = buildLaterOccurrences(reader, merges, changedGroups);
  const rows = await reader.columns.query<{ id: string; total: string }>(
    `SELECT ${merges.sql.group} AS id, toString(count()) AS total FROM error_occurrences WHERE ${condition} GROUP BY id LIMIT 100000`,
    parameters,
  );
  return new Map(rows.map(({ id, total }) => [id, Number(total)]));
};

/** Statuses of groups with a decision; all other groups are unresolved */
export class ErrorGroupStatuses {
  readonly #byId: ReadonlyMap<string, Omit<ErrorGroupStatus, 'regressedAt'>>;
  readonly #occurrencesByGroup: ReadonlyMap<string, readonly ReleaseOccurrence[]>;
  readonly #releases: Releases;
  readonly #merges: FingerprintMerges;
  readonly #reading: TenantReader;

  private constructor(
    reader: TenantReader,
    merges: FingerprintMerges,
    byId: ReadonlyMap<string, Omit<ErrorGroupStatus, 'regressedAt'>>,
    occurrencesByGroup: ReadonlyMap<string, readonly ReleaseOccurrence[]>,
    releases: Releases,
  ) {
    this.#byId = byId;
    this.#occurrencesByGroup = occurrencesByGroup;
    this.#releases = releases;
    this.#merges = merges;
    this.#reading = reader;
  }

  static async read(
    reader: TenantReader,
    merges: FingerprintMerges,
    { states }: Pick<ErrorDecisions, 'states'>,
  ): Promise<ErrorGroupStatuses> {
    const closedStates = states.filter(({ status }) => status !== 'unresolved');
    const occurrencesByGroup =
      closedStates.length === 0
        ? new Map<string, ReleaseOccurrence[]>()
        : await readLastOccurrences(
            reader,
            merges,
            closedStates.map(({ id }) => id),
          );
    const isByRelease = ({ resolvedIn, ignoredUntil }: ErrorGroupState): boolean =>
      resolvedIn !== null || ignoredUntil?.nextVersion === true;
    const services = closedStates
      .filter(isByRelease)
      .flatMap(({ id }) => (occurrencesByGroup.get(id) ?? []).map(({ service }) => service));
    const [releases, countSince] = await Promise.all([
      readReleases(reader, [...new Set(services)]),
      countSinceDecision(
        reader,
        merges,
        closedStates.filter(
          ({ status, ignoredUntil }) => status === 'ignored' && ignoredUntil?.occurrences !== undefined,
        ),
      ),
    ]);
    const byId = new Map(
      states.map((decided) => [
        decided.id,
        resolveGroupStatus(decided, {
          lastOccurrences: occurrencesByGroup.get(decided.id) ?? [],
          countSince: countSince.get(decided.id) ?? 0,
          releases,
          nowMs: reader.nowMs,
        }),
      ]),
    );
    return new ErrorGroupStatuses(reader, merges, byId, occurrencesByGroup, releases);
  }

  /** Returns the groups that a user closed and that are still closed. */
  listIdsWith(status: Exclude<ErrorStatus, 'unresolved'>): string[] {
    return [...this.#byId].filter(([, groupStatus]) => groupStatus.status === status).map(([id]) => id);
  }

  /** Returns the status of each group; for regressed groups, also the time. */
  async getStatuses(ids: readonly string[]): Promise<ReadonlyMap<string, ErrorGroupStatus>> {
    const regressed = ids.filter((id) => this.#byId.get(id)?.isRegressed === true);
    const regressionTimes = await this.#readRegressionTimes(regressed);
    return new Map(
      ids.map((id) => [id, { ...(this.#byId.get(id) ?? unresolved), regressedAt: regressionTimes.get(id) ?? null }]),
    );
  }

  /** Returns the first occurrence that reopened each group. */
  async #readRegressionTimes(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const decided = ids.flatMap((id) => this.#byId.get(id)?.decided ?? []);
    const pairs = decided.flatMap((state) =>
      (this.#occurrencesByGroup.get(state.id) ?? [])
        .filter((occurrence) => reopensGroup(state, occurrence, this.#releases))
        .map(({ service, release }) => `${state.id}\n${service}\n${release}`),
    );
    const { condition, parameters } = buildLaterOccurrences(this.#reading, this.#merges, decided);
    const rows = await this.#reading.columns.query<{ id: string; first: string }>(
      `SELECT ${this.#merges.sql.group} AS id, toString(toUnixTimestamp64Nano(min(timestamp))) AS first FROM error_occurrences
      WHERE ${condition} AND concat(id, '\n', service, '\n', release) IN {pairs:Array(String)} GROUP BY id LIMIT 100000`,
      { ...parameters, pairs },
    );
    return new Map(rows.map(({ id, first }) => [id, formatTime(BigInt(first))]));
  }
}
