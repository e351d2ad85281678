/**
 * Status of a group, derived from user decisions and later occurrences. No background job is involved, so no transition
 * can be missed.
 */

import type { Reading } from '../../queries/reading.ts';
import { formatTime } from '../../queries/time.ts';
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
  isNotOlder(service: string, release: string, than: string): boolean {
    if (release === than) return true;
    const [ownFirstNs, other] = [release, than].map((each) => this.#first.get(`${service}\n${each}`));
    return other !== undefined && ownFirstNs !== undefined && ownFirstNs >= other;
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
    ? releases.isNotOlder(service, release, resolvedIn.version)
    : releases.isAfter(service, release, toNs(changedAt));
};

/** Returns the status of a decision, given the group's last occurrences and their number since. */
export const resolveGroupStatus = (
  decided: ErrorGroupState & StoredMetadata,
  {
    places,
    since,
    releases,
    nowMs,
  }: {
    readonly places: readonly ReleaseOccurrence[];
    readonly since: number;
    readonly releases: Releases;
    readonly nowMs: number;
  },
): Omit<ErrorGroupStatus, 'regressedAt'> => {
  const changedNs = toNs(decided.changedAt);
  const later = places.filter(({ lastNs }) => lastNs > changedNs);
  if (decided.status === 'resolved') {
    const isRegressed = later.some((place) => reopensGroup(decided, place, releases));
    return { ...unresolved, status: isRegressed ? 'unresolved' : 'resolved', isRegressed, decided };
  }
  if (decided.status === 'unresolved') return { ...unresolved, decided };
  const { time, occurrences, nextVersion } = decided.ignoredUntil ?? {};
  const hasExpired =
    (time !== undefined && Date.parse(time) <= nowMs) ||
    (occurrences !== undefined && since >= occurrences) ||
    (nextVersion === true && later.some(({ service, release }) => releases.isAfter(service, release, changedNs)));
  return { ...unresolved, status: hasExpired ? 'unresolved' : 'ignored', hasIgnoreExpired: hasExpired, decided };
};

/** Returns the last occurrences of groups. */
const readLastOccurrences = async (
  reading: Reading,
  merges: FingerprintMerges,
  ids: readonly string[],
): Promise<Map<string, ReleaseOccurrence[]>> => {
  const { condition, parameters } = createIncludedScope(reading, {});
  const rows = await reading.columns.query<{ id: string; service: string; release: string; last: string }>(
    `SELECT ${merges.sql.group} AS id, service, release, toString(toUnixTimestamp64Nano(max(last_seen))) AS last
    FROM error_groups WHERE ${condition} AND fingerprint IN {fingerprints:Array(String)} GROUP BY id, service, release LIMIT 100000`,
    { ...parameters, ...merges.sql.parameters, fingerprints: ids.flatMap((id) => merges.membersOf(id)) },
  );
  const places = new Map<string, ReleaseOccurrence[]>();
  for (const { id, service, release, last } of rows)
    places.set(id, [...(places.get(id) ?? []), { service, release, lastNs: BigInt(last) }]);
  return places;
};

const readReleases = async ({ columns }: Reading, services: readonly string[]): Promise<Releases> =>
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
const laterOccurrences = (reading: Reading, merges: FingerprintMerges, changed: readonly ChangedGroup[]) => {
  const { condition, parameters } = createIncludedScope(reading, {});
  const earliestMs = Math.min(...changed.map(({ changedAt }) => Date.parse(changedAt)));
  return {
    condition: `${condition} AND fingerprint IN {fingerprints:Array(String)} AND timestamp > fromUnixTimestamp64Milli({earliest:Int64}, 'UTC')
      AND toUnixTimestamp64Nano(timestamp) > transform(id, {ids:Array(String)}, {after:Array(Int64)}, toInt64(0))`,
    parameters: {
      ...parameters,
      ...merges.sql.parameters,
      earliest: String(earliestMs),
      fingerprints: changed.flatMap(({ id }) => merges.membersOf(id)),
      ids: changed.map(({ id }) => id),
      after: changed.map(({ changedAt }) => String(toNs(changedAt))),
    },
  };
};

/** Returns the number of occurrences since the decision about each group. */
const countSinceDecision = async (
  reading: Reading,
  merges: FingerprintMerges,
  changed: readonly ChangedGroup[],
): Promise<Map<string, number>> => {
  if (changed.length === 0) return new Map();
  const { condition, parameters } = laterOccurrences(reading, merges, changed);
  const rows = await reading.columns.query<{ id: string; total: string }>(
    `SELECT ${merges.sql.group} AS id, toString(count()) AS total FROM error_occurrences WHERE ${condition} GROUP BY id LIMIT 100000`,
    parameters,
  );
  return new Map(rows.map(({ id, total }) => [id, Number(total)]));
};

/** Statuses of groups with a decision; all other groups are unresolved */
export class ErrorGroupStatuses {
  readonly #byId: ReadonlyMap<string, Omit<ErrorGroupStatus, 'regressedAt'>>;
  readonly #places: ReadonlyMap<string, readonly ReleaseOccurrence[]>;
  readonly #releases: Releases;
  readonly #merges: FingerprintMerges;
  readonly #reading: Reading;

  private constructor(
    reading: Reading,
    merges: FingerprintMerges,
    byId: ReadonlyMap<string, Omit<ErrorGroupStatus, 'regressedAt'>>,
    places: ReadonlyMap<string, readonly ReleaseOccurrence[]>,
    releases: Releases,
  ) {
    this.#byId = byId;
    this.#places = places;
    this.#releases = releases;
    this.#merges = merges;
    this.#reading = reading;
  }

  static async read(
    reading: Reading,
    merges: FingerprintMerges,
    { states }: Pick<ErrorDecisions, 'states'>,
  ): Promise<ErrorGroupStatuses> {
    const closed = states.filter(({ status }) => status !== 'unresolved');
    const places =
      closed.length === 0
        ? new Map<string, ReleaseOccurrence[]>()
        : await readLastOccurrences(
            reading,
            merges,
            closed.map(({ id }) => id),
          );
    const isByRelease = ({ resolvedIn, ignoredUntil }: ErrorGroupState): boolean =>
      resolvedIn !== null || ignoredUntil?.nextVersion === true;
    const services = closed
      .filter(isByRelease)
      .flatMap(({ id }) => (places.get(id) ?? []).map(({ service }) => service));
    const [releases, since] = await Promise.all([
      readReleases(reading, [...new Set(services)]),
      countSinceDecision(
        reading,
        merges,
        closed.filter(({ status, ignoredUntil }) => status === 'ignored' && ignoredUntil?.occurrences !== undefined),
      ),
    ]);
    const byId = new Map(
      states.map((decided) => [
        decided.id,
        resolveGroupStatus(decided, {
          places: places.get(decided.id) ?? [],
          since: since.get(decided.id) ?? 0,
          releases,
          nowMs: reading.nowMs,
        }),
      ]),
    );
    return new ErrorGroupStatuses(reading, merges, byId, places, releases);
  }

  /** Returns the groups that a user closed and that are still closed. */
  idsWith(status: Exclude<ErrorStatus, 'unresolved'>): string[] {
    return [...this.#byId].filter(([, groupStatus]) => groupStatus.status === status).map(([id]) => id);
  }

  /** Returns the status of each group; for regressed groups, also the time. */
  async of(ids: readonly string[]): Promise<ReadonlyMap<string, ErrorGroupStatus>> {
    const regressed = ids.filter((id) => this.#byId.get(id)?.isRegressed === true);
    const at = await this.#regressedAt(regressed);
    return new Map(ids.map((id) => [id, { ...(this.#byId.get(id) ?? unresolved), regressedAt: at.get(id) ?? null }]));
  }

  /** Returns the first occurrence that reopened each group. */
  async #regressedAt(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const decided = ids.flatMap((id) => this.#byId.get(id)?.decided ?? []);
    const pairs = decided.flatMap((state) =>
      (this.#places.get(state.id) ?? [])
        .filter((place) => reopensGroup(state, place, this.#releases))
        .map(({ service, release }) => `${state.id}\n${service}\n${release}`),
    );
    const { condition, parameters } = laterOccurrences(this.#reading, this.#merges, decided);
    const rows = await this.#reading.columns.query<{ id: string; first: string }>(
      `SELECT ${this.#merges.sql.group} AS id, toString(toUnixTimestamp64Nano(min(timestamp))) AS first FROM error_occurrences
      WHERE ${condition} AND concat(id, '\n', service, '\n', release) IN {pairs:Array(String)} GROUP BY id LIMIT 100000`,
      { ...parameters, pairs },
    );
    return new Map(rows.map(({ id, first }) => [id, formatTime(BigInt(first))]));
  }
}
