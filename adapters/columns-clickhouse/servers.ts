/** The servers of the columns: their availability, and the shard of the cluster that each server has. */
import { UnavailableError } from '../../schemas/errors.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { getShardOfPlace } from '../../schemas/tables/sharding.ts';
import { asError, ClickhouseServer, getErrorCode } from './server.ts';

export const toUnreachableError = (error: unknown): UnavailableError =>
  new UnavailableError(`ClickHouse cannot be reached: ${asError(error).message}`, { cause: error });

/** A server, and the same server with the database in which each table covers the whole cluster. */
export interface Member {
  readonly local: ClickhouseServer;
  readonly whole: ClickhouseServer;
}

/** Database next to the database of the tables */
export const clusterDatabase = (database: string): string => `${database}_all`;

const createMember = (url: string, isCluster: boolean): Member => {
  const local = new ClickhouseServer(url);
  if (!isCluster) return { local, whole: local };
  const whole = new URL(url);
  whole.pathname = `/${encodeURIComponent(clusterDatabase(local.database))}`;
  return { local, whole: new ClickhouseServer(String(whole)) };
};

/**
 * Tries one member after the other, those that answered recently first. Rejects with the last error if none answers.
 */
const firstAnswer = async <Result>(
  members: readonly Member[],
  selectServer: (member: Member) => ClickhouseServer,
  work: (member: Member) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> => {
  let failure: unknown = new UnavailableError('no ClickHouse server is configured');
  const rank = (member: Member): number => Number(selectServer(member).isAvoided);
  for (const [index, member] of members.toSorted((left, right) => rank(left) - rank(right)).entries()) {
    try {
      const isLast = index === members.length - 1;
      return await (isLast ? work(member) : selectServer(member).rejectIfHanging(() => work(member)));
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
  readonly #silenceReasons = new Map<Member, string>();

  constructor(urls: readonly string[], cluster: string | undefined) {
    this.cluster = cluster;
    this.members = urls.map((url) => createMember(url, cluster !== undefined));
  }

  /** Database of the tables, on each server */
  get database(): string {
    return this.members[0]?.local.database ?? 'default';
  }

  /**
   * Runs a read of all shards on a server that answers. If the read has a slot, servers of its shard are tried first,
   * since they have the placements. This spreads the work of merging the shards' answers.
   */
  anywhere<Result>(
    work: (member: Member) => Promise<Result>,
    { signal, place }: { readonly signal?: AbortSignal | undefined; readonly place?: number | undefined } = {},
  ): Promise<Result> {
    const shard = place === undefined || this.#shards === undefined ? undefined : getShardOfPlace(place, this.#shards);
    const isOther = (member: Member): number => Number(shard !== undefined && this.#shardOf.get(member) !== shard);
    const members = this.members.toSorted((left, right) => isOther(left) - isOther(right));
    return firstAnswer(members, ({ whole }) => whole, work, signal);
  }

  /** Runs repeatable work on a server of the shard of a slot: always the same shard for the same slot. */
  async onShardOf<Result>(place: number, work: (server: ClickhouseServer) => Promise<Result>): Promise<Result> {
    const shard = this.cluster === undefined ? 0 : getShardOfPlace(place, await this.shards());
    return this.onShard(shard, work);
  }

  /** Runs repeatable work on a server of a shard, over that server's own rows. */
  async onShard<Result>(
    shard: number,
    work: (server: ClickhouseServer) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    return firstAnswer(
      await this.membersOf(shard),
      ({ local }) => local,
      ({ local }) => work(local),
      signal,
    );
  }

  /**
   * Returns the number of shards that receive new rows; later shards have weight 0 and are only read. Rejects if no
   * server that knows it answers.
   */
  async shards(): Promise<number> {
    if (this.cluster === undefined) return 1;
    if (this.#shards === undefined) await this.#readShards(this.cluster);
    return this.#shards ?? 1;
  }

  /** Returns the shard of a member that has reported it, from 0 on. */
  shardOf(member: Member): number | undefined {
    return this.#shardOf.get(member);
  }

  /** Returns the servers of a shard. Rejects if none of them is configured, or none has answered yet. */
  async membersOf(shard: number): Promise<readonly Member[]> {
    if (this.cluster === undefined) return this.members;
    const findMembers = (): Member[] =>
      this.members.filter((member) => this.#shards !== undefined && this.#shardOf.get(member) === shard);
    if (findMembers().length === 0) await this.#readShards(this.cluster);
    const members = findMembers();
    if (members.length === 0) {
      const silent = Array.from(this.#silenceReasons, ([{ local }, reason]) => ` (${local.name}: ${reason})`).join('');
      throw new UnavailableError(
        `no server of OIQ_CLICKHOUSE_URL has shard ${shard + 1} of ${this.#shards} of the cluster ${this.cluster}: name a server of each shard, or wait for the servers that do not answer${silent}`,
      );
    }
    return members;
  }

  /**
   * Reads the shards. Rejects if no server answers, a server does not know the cluster, or a shard has no configured
   * server.
   */
  async check(): Promise<void> {
    if (this.cluster === undefined) return;
    await this.#readShards(this.cluster);
    for (let shard = 0; shard < (this.#shards ?? 0); shard++) await this.membersOf(shard);
  }

  /** Whether each server of the cluster is configured and has answered. */
  async areAllConfigured(): Promise<boolean> {
    await this.check();
    return (
      this.#serverCount <= this.members.length &&
      this.members.every((member) => this.#shardOf.get(member) !== undefined)
    );
  }

  /**
   * Rejects if a server of the cluster is not configured or does not answer: all servers must know the placements
   * before rows are inserted.
   */
  async checkAllNamed(): Promise<void> {
    if (!(await this.areAllConfigured()))
      throw new UnavailableError(
        `rows would be stored on a shard that has no rows of their organization: name all servers of the cluster ${this.cluster} in OIQ_CLICKHOUSE_URL and make sure that all of them answer`,
      );
  }

  async #readShards(cluster: string): Promise<void> {
    const counts: number[] = [];
    let failure: unknown;
    for (const member of this.members) {
      if (this.#shardOf.get(member) !== undefined) continue;
      const rows = await member.local
        .rejectIfHanging(() => fetchClusterRows(member.local, cluster))
        .catch((error: unknown) => {
          if (getErrorCode(error) !== undefined) throw error;
          this.#silenceReasons.set(member, asError(error).message);
          failure = error;
        });
      if (rows === undefined) continue;
      this.#silenceReasons.delete(member);
      if (rows.length === 0)
        throw new UnavailableError(
          `${member.local.name} does not know the cluster ${cluster}: OIQ_CLICKHOUSE_CLUSTER must be the name of a cluster in its system.clusters`,
        );
      counts.push(shardsWithNewRows(rows));
      this.#serverCount = Math.max(this.#serverCount, rows.length);
      const ownRow = rows.find(({ is_local }) => is_local === 1);
      this.#shardOf.set(member, ownRow === undefined ? undefined : ownRow.shard - 1);
    }
    // If the counts differ, the cluster is being extended, and not all servers can read the newest shard.
    if (counts.length > 0) this.#shards ??= Math.min(...counts);
    if (this.#shards === undefined) throw failure instanceof UnavailableError ? failure : toUnreachableError(failure);
  }

  async close(): Promise<void> {
    for (const { local, whole } of this.members) {
      await local.close();
      if (whole !== local) await whole.close();
    }
  }
}

/** Counts the shards without weight 0. Shards of weight 0 come last, so slots are distributed over the others. */
const shardsWithNewRows = (rows: readonly ClusterRow[]): number => {
  const weightedShards = new Set(rows.filter(({ weight }) => weight > 0).map(({ shard }) => shard));
  if (weightedShards.size === 0 || Math.max(...weightedShards) !== weightedShards.size)
    throw new UnavailableError('shards of weight 0, which get no new rows, must be the last ones of the cluster');
  return weightedShards.size;
};

const fetchClusterRows = (server: ClickhouseServer, cluster: string): Promise<readonly ClusterRow[]> =>
  server.select<ClusterRow>(
    `SELECT toUInt32(shard_num) AS shard, toUInt32(shard_weight) AS weight, is_local FROM system.clusters WHERE cluster = ${quoteString(cluster)}`,
  );
