/** The servers of the columns: their availability, and the shard of the cluster that each server has. */
import { UnavailableError } from '../../schemas/errors.ts';
import type { MemberWatch, StoreMembers } from '../../schemas/ports/store-members.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { getShardOfPartition } from '../../schemas/tables/sharding.ts';
import { ClickhouseServer, getErrorCode, toError } from './server.ts';
import { onlyServerGraceMs, runWhileAvailable } from './unavailability.ts';

export const toUnreachableError = (error: unknown): UnavailableError =>
  new UnavailableError(`ClickHouse cannot be reached: ${toError(error).message}`, { cause: error });

/** A server with its own database, and the same server with the database whose tables span the cluster. */
export interface Member {
  readonly local: ClickhouseServer;
  readonly whole: ClickhouseServer;
}

/** Database next to the database of the tables */
export const toClusterDatabase = (database: string): string => `${database}_all`;

const createMember = (url: string, isCluster: boolean, watch: MemberWatch): Member => {
  const local = new ClickhouseServer(url, watch);
  if (!isCluster) return { local, whole: local };
  const clusterWide = new URL(url);
  clusterWide.pathname = `/${encodeURIComponent(toClusterDatabase(local.database))}`;
  return { local, whole: new ClickhouseServer(String(clusterWide), watch) };
};

/**
 * Tries one member after another, those that responded recently first. Rejects with the last error if none responds.
 */
const tryMembers = async <Result>(
  members: readonly Member[],
  selectServer: (member: Member) => ClickhouseServer,
  work: (member: Member) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> => {
  let failure: unknown = new UnavailableError('no ClickHouse server is configured');
  const rank = (member: Member): number => Number(selectServer(member).isAvoided);
  for (const member of members.toSorted((left, right) => rank(left) - rank(right))) {
    try {
      return await selectServer(member).rejectIfHanging(() => work(member), { isOnlyServer: members.length === 1 });
    } catch (error) {
      if (signal?.aborted || getErrorCode(error) !== undefined) throw error;
      failure = error;
    }
  }
  throw failure;
};

interface ClusterRow {
  readonly shard: number;
  readonly weight: number;
  readonly is_local: number;
}

export class ClickhouseServers {
  readonly members: readonly Member[];
  /** Name in `system.clusters`; undefined with a single server. */
  readonly cluster: string | undefined;
  /** Fixed when it was first read, so that retries go to the same shard. */
  #shards: number | undefined;
  /** Shards of the members that have reported theirs, from 0 on; undefined for a member that is in no shard yet. */
  readonly #shardOf = new Map<Member, number | undefined>();
  /** Number of servers in the cluster, including replicas */
  #serverCount = 0;
  /** Why a member has not reported its shard */
  readonly #silenceReasons = new Map<Member, Error>();

  readonly #watch: MemberWatch;

  constructor(urls: readonly string[], cluster: string | undefined, storeMembers: StoreMembers) {
    this.cluster = cluster;
    this.#watch = storeMembers.watch('ClickHouse', () =>
      this.members.map(({ local }) => ({ name: local.name, probe: () => local.ping() })),
    );
    this.members = urls.map((url) => createMember(url, cluster !== undefined, this.#watch));
  }

  /** Database of the tables, on each server */
  get database(): string {
    return this.members[0]?.local.database ?? 'default';
  }

  /**
   * Runs a read of all shards on a server that responds. If the read has a slot, servers of its shard are tried first,
   * since they have the placements. This spreads the work of merging the results of the shards.
   */
  runAnywhere<Result>(
    work: (member: Member) => Promise<Result>,
    { signal, partition }: { readonly signal?: AbortSignal | undefined; readonly partition?: number | undefined } = {},
  ): Promise<Result> {
    const shard =
      partition === undefined || this.#shards === undefined ? undefined : getShardOfPartition(partition, this.#shards);
    const isOtherShard = (member: Member): number => Number(shard !== undefined && this.#shardOf.get(member) !== shard);
    const members = this.members.toSorted((left, right) => isOtherShard(left) - isOtherShard(right));
    return tryMembers(members, ({ whole }) => whole, work, signal);
  }

  /** Whether no server is known to hang or to be away. */
  get areAllAvailable(): boolean {
    return this.members.every(({ local }) => !local.isUnavailable);
  }

  /**
   * Runs a read of all shards on one server. Rejects with the names of servers whose shard nobody else has, if they do
   * not respond, because the server that merges the results of the shards would wait for them.
   */
  readAllShards<Result>(work: () => Promise<Result>): Promise<Result> {
    const findError = (): UnavailableError | undefined => {
      const members = this.#findUnreachable();
      return members.length === 0 ? undefined : createUnreachableError(members);
    };
    return runWhileAvailable(work, { watch: this.#watch, findError, graceMs: onlyServerGraceMs });
  }

  /** Servers that do not respond, and without which rows of a shard cannot be read. */
  #findUnreachable(): readonly Member[] {
    const unavailable = this.members.filter(({ local }) => local.isUnavailable);
    // A replica that is not configured may have the rows.
    if (this.cluster === undefined || unavailable.length === 0 || this.#serverCount > this.members.length) return [];
    const findShard = (member: Member): number | undefined => this.#shardOf.get(member);
    const reachableShards = new Set(this.members.filter((member) => !unavailable.includes(member)).map(findShard));
    const knownShards = [
      ...Array(this.#shards ?? 0).keys(),
      ...[...this.#shardOf.values()].filter((shard) => shard !== undefined),
    ];
    if (knownShards.every((shard) => reachableShards.has(shard))) return [];
    return unavailable.filter((member) => !reachableShards.has(findShard(member)));
  }

  /** Runs repeatable work on a server of the shard of a slot: always the same shard for the same slot. */
  async runOnShardOfSlot<Result>(slot: number, work: (server: ClickhouseServer) => Promise<Result>): Promise<Result> {
    const shard = this.cluster === undefined ? 0 : getShardOfPartition(slot, await this.shards());
    return this.runOnShard(shard, work);
  }

  /** Runs repeatable work on a server of a shard, over that server's own rows. */
  async runOnShard<Result>(
    shard: number,
    work: (server: ClickhouseServer) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    return tryMembers(
      await this.getMembers(shard),
      ({ local }) => local,
      ({ local }) => work(local),
      signal,
    );
  }

  /**
   * Returns the number of shards that receive new rows; later shards have weight 0 and are only read. Rejects if no
   * server that knows the number responds.
   */
  async shards(): Promise<number> {
    if (this.cluster === undefined) return 1;
    if (this.#shards === undefined) await this.#readShards(this.cluster);
    return this.#shards ?? 1;
  }

  /** Returns the shard of a member that has reported it, from 0 on. */
  getShard(member: Member): number | undefined {
    return this.#shardOf.get(member);
  }

  /** Returns the servers of a shard. Rejects if none of them is configured, or none has responded yet. */
  async getMembers(shard: number): Promise<readonly Member[]> {
    if (this.cluster === undefined) return this.members;
    const findMembers = (): Member[] =>
      this.members.filter((member) => this.#shards !== undefined && this.#shardOf.get(member) === shard);
    if (findMembers().length === 0) await this.#readShards(this.cluster);
    const members = findMembers();
    if (members.length === 0) {
      const silenceText = Array.from(
        this.#silenceReasons,
        ([{ local }, { message }]) => ` (${local.name}: ${message})`,
      ).join('');
      throw new UnavailableError(
        `no server of OIQ_CLICKHOUSE_URL has shard ${shard + 1} of ${this.#shards} of the cluster ${this.cluster}: name a server of each shard, or wait for the servers that do not answer${silenceText}`,
      );
    }
    return members;
  }

  /**
   * Reads the shards. Rejects if no server responds, a server does not know the cluster, or a shard has no configured
   * server. A shard whose servers do not respond is no reason to reject: others can be read.
   */
  async check(): Promise<void> {
    if (this.cluster === undefined) return;
    await this.#readShards(this.cluster);
    // A server that responds, and rejects the user, is a wrong setting.
    const hasRejection = [...this.#silenceReasons.values()].some(({ cause }) => getErrorCode(cause) !== undefined);
    if (this.#silenceReasons.size > 0 && !hasRejection) return;
    for (let shard = 0; shard < (this.#shards ?? 0); shard++) await this.getMembers(shard);
  }

  /** Whether each server of the cluster is configured and has responded. */
  async areAllConfigured(): Promise<boolean> {
    await this.check();
    return (
      this.#serverCount <= this.members.length &&
      this.members.every((member) => this.#shardOf.get(member) !== undefined)
    );
  }

  /**
   * Rejects if a server of the cluster is not configured or does not respond: all servers must know the placements
   * before rows are inserted.
   */
  async requireAllConfigured(): Promise<void> {
    if (!(await this.areAllConfigured()))
      throw new UnavailableError(
        `rows would be stored on a shard that has no rows of their organization: name all servers of the cluster ${this.cluster} in OIQ_CLICKHOUSE_URL and make sure that all of them answer`,
      );
  }

  async #readShards(cluster: string): Promise<void> {
    const counts: number[] = [];
    let failure: unknown;
    const unknownMembers = this.members.filter((member) => this.#shardOf.get(member) === undefined);
    const responses = await Promise.all(
      unknownMembers.map(async (member) => {
        try {
          return {
            member,
            rows: await member.local.rejectIfHanging(() => fetchClusterRows(member.local, cluster), {
              isOnlyServer: false,
            }),
          };
        } catch (error) {
          if (getErrorCode(error) !== undefined) throw error;
          this.#silenceReasons.set(member, toError(error));
          failure = error;
          return undefined;
        }
      }),
    );
    for (const { member, rows } of responses.filter((response) => response !== undefined)) {
      this.#silenceReasons.delete(member);
      if (rows.length === 0)
        throw new UnavailableError(
          `${member.local.name} does not know the cluster ${cluster}: OIQ_CLICKHOUSE_CLUSTER must be the name of a cluster in its system.clusters`,
        );
      counts.push(countWeightedShards(rows));
      this.#serverCount = Math.max(this.#serverCount, rows.length);
      const ownRow = rows.find(({ is_local }) => is_local === 1);
      this.#shardOf.set(member, ownRow === undefined ? undefined : ownRow.shard - 1);
    }
    // If the counts differ, the cluster is being extended, and not all servers can read the newest shard.
    if (counts.length > 0) this.#shards ??= Math.min(...counts);
    if (this.#shards === undefined) throw failure instanceof UnavailableError ? failure : toUnreachableError(failure);
  }

  async close(): Promise<void> {
    this.#watch.close();
    for (const { local, whole } of this.members) {
      await local.close();
      if (whole !== local) await whole.close();
    }
  }
}

const createUnreachableError = (members: readonly Member[]): UnavailableError => {
  const names = members.map(({ local }) => local.name).join(' and ');
  return new UnavailableError(
    members.length === 1
      ? `the ClickHouse server ${names} does not answer, and no other server has its rows`
      : `the ClickHouse servers ${names} do not answer, and no other server has their rows`,
  );
};

/** Counts the shards without weight 0. Shards of weight 0 come last, so slots are distributed over the others. */
const countWeightedShards = (rows: readonly ClusterRow[]): number => {
  const weightedShards = new Set(rows.filter(({ weight }) => weight > 0).map(({ shard }) => shard));
  if (weightedShards.size === 0 || Math.max(...weightedShards) !== weightedShards.size)
    throw new UnavailableError('shards of weight 0, which get no new rows, must be the last ones of the cluster');
  return weightedShards.size;
};

const fetchClusterRows = (server: ClickhouseServer, cluster: string): Promise<readonly ClusterRow[]> =>
  server.select<ClusterRow>(
    `SELECT toUInt32(shard_num) AS shard, toUInt32(shard_weight) AS weight, is_local FROM system.clusters WHERE cluster = ${quoteString(cluster)}`,
  );
