/** The servers of the columns: which of them answer, and which shard of the cluster each has. */
import { UnavailableError } from '../../schemas/errors.ts';
import { quote } from '../../schemas/tables/literal.ts';
import { asError, ClickhouseServer, codeOf } from './server.ts';

export const unreachable = (error: unknown): UnavailableError =>
  new UnavailableError(`ClickHouse cannot be reached: ${asError(error).message}`, { cause: error });

/** A server, and the same one with the database in which each table is the whole cluster's. */
export interface Member {
  readonly local: ClickhouseServer;
  readonly whole: ClickhouseServer;
}

/** Beside the database of the tables. */
export const wholeDatabase = (database: string): string => `${database}_all`;

const memberOf = (url: string, isCluster: boolean): Member => {
  const local = new ClickhouseServer(url);
  if (!isCluster) return { local, whole: local };
  const whole = new URL(url);
  whole.pathname = `/${encodeURIComponent(wholeDatabase(local.database))}`;
  return { local, whole: new ClickhouseServer(String(whole)) };
};

/** Tries one after the other, those first that answered lately. Rejects with the last error where none answers. */
const firstAnswer = async <Server extends { readonly isAvoided: boolean }, Result>(
  servers: readonly Server[],
  work: (server: Server) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> => {
  let failure: unknown = new UnavailableError('no ClickHouse server is named');
  for (const server of [...servers].sort((left, right) => Number(left.isAvoided) - Number(right.isAvoided))) {
    try {
      return await work(server);
    } catch (error) {
      if (signal?.aborted || codeOf(error) !== undefined) throw error;
      failure = error;
    }
  }
  throw failure;
};

interface ClusterRow {
  readonly shard: number;
  readonly is_local: number;
}

export class ClickhouseServers {
  readonly members: readonly Member[];
  /** The name in `system.clusters`; undefined where there is one server. */
  readonly cluster: string | undefined;
  /** Fixed when it was first learnt, so that what is tried again goes where it went. */
  #shards: number | undefined;
  /** From 0 on, of those that have told it; undefined of one that is in no shard yet. */
  readonly #shardOf = new Map<Member, number | undefined>();

  constructor(urls: readonly string[], cluster: string | undefined) {
    this.cluster = cluster;
    this.members = urls.map((url) => memberOf(url, cluster !== undefined));
  }

  /** Of the tables, on each of them. */
  get database(): string {
    return this.members[0]?.local.database ?? 'default';
  }

  /** Runs a read of all shards on a server that answers. */
  anywhere<Result>(work: (server: ClickhouseServer) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    return firstAnswer(
      this.members.map(({ whole }) => whole),
      work,
      signal,
    );
  }

  /** Runs what may be repeated on a server of the shard that has what is of a place: the same shard for the same place. */
  async onShardOf<Result>(place: number, work: (server: ClickhouseServer) => Promise<Result>): Promise<Result> {
    return firstAnswer(await this.#serversOf(place), work);
  }

  async #serversOf(place: number): Promise<readonly ClickhouseServer[]> {
    if (this.cluster === undefined) return this.members.map(({ local }) => local);
    const known = (): ClickhouseServer[] =>
      this.members
        .filter((member) => this.#shards !== undefined && this.#shardOf.get(member) === place % this.#shards)
        .map(({ local }) => local);
    if (known().length === 0) await this.#learn(this.cluster);
    const servers = known();
    if (servers.length === 0)
      throw new UnavailableError(
        `no server of OIQ_CLICKHOUSE_URL has shard ${(place % (this.#shards ?? 1)) + 1} of ${this.#shards} of the cluster ${this.cluster}: name one of each shard, or wait for those that do not answer`,
      );
    return servers;
  }

  /** Learns the shards. Rejects where no server answers, one does not know the cluster, or a shard has none that is named. */
  async check(): Promise<void> {
    if (this.cluster === undefined) return;
    await this.#learn(this.cluster);
    for (let shard = 0; shard < (this.#shards ?? 0); shard++) await this.#serversOf(shard);
  }

  async #learn(cluster: string): Promise<void> {
    const counts: number[] = [];
    let failure: unknown;
    for (const member of this.members) {
      if (this.#shardOf.get(member) !== undefined) continue;
      const rows = await shardsOf(member.local, cluster).catch((error: unknown) => {
        if (codeOf(error) !== undefined) throw error;
        failure = error;
      });
      if (rows === undefined) continue;
      if (rows.length === 0)
        throw new UnavailableError(
          `${member.local.name} knows no cluster ${cluster}: OIQ_CLICKHOUSE_CLUSTER must be a name of its system.clusters`,
        );
      counts.push(Math.max(...rows.map(({ shard }) => shard)));
      const own = rows.find(({ is_local }) => is_local === 1);
      this.#shardOf.set(member, own === undefined ? undefined : own.shard - 1);
    }
    // Where they differ, the cluster is being extended, and not all of them can read the newest shard.
    if (counts.length > 0) this.#shards ??= Math.min(...counts);
    if (this.#shards === undefined) throw unreachable(failure);
  }

  async close(): Promise<void> {
    for (const { local, whole } of this.members) {
      await local.close();
      if (whole !== local) await whole.close();
    }
  }
}

const shardsOf = (server: ClickhouseServer, cluster: string): Promise<ClusterRow[]> =>
  server.repeatable(async (client) => {
    const result = await client.query({
      query: `SELECT toUInt32(shard_num) AS shard, is_local FROM system.clusters WHERE cluster = ${quote(cluster)}`,
      format: 'JSONEachRow',
    });
    return result.json<ClusterRow>();
  });
