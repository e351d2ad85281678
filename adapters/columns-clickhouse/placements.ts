/** Shards that may store rows: those of the declared rule, and others if every server was notified before the insert. */
import { setTimeout as delay } from 'node:timers/promises';
import { UnavailableError } from '../../schemas/errors.ts';
import { allTables } from '../../schemas/tables/index.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import {
  emptyShardMarker,
  noShardIndex,
  placementsCacheMs,
  placementsPropagationMs,
} from '../../schemas/tables/placements.ts';
import {
  getShardOfPartition,
  getSourceTables,
  getTenantPartition,
  isReplacedByKey,
  isShardedByTenant,
} from '../../schemas/tables/sharding.ts';
import { getErrorCode } from './server.ts';
import type { ClickhouseServers, Member } from './servers.ts';
import {
  buildInsertPlacements,
  buildReactivateShards,
  createException,
  fetchPlacements,
  type Placement,
  type ServerPlacements,
  toPlacementKey,
  toTenantTableKey,
} from './tenant-placements.ts';

/** Error codes of a server without the table, or without the database */
const missingTableCodes = new Set([60, 81]);

export class Placements {
  readonly #servers: ClickhouseServers;
  readonly #cache = new Map<
    Member,
    { readonly placements: Promise<ServerPlacements>; readonly requestedAtMs: number }
  >();
  /** Tenants and tables that are allowed on each shard. A permission is never revoked. */
  readonly #allowed = new Map<number, Set<string>>();
  /** The smallest number of shards ever published; undefined if none was published. */
  #minShards: number | undefined;

  constructor(servers: ClickhouseServers) {
    this.#servers = servers;
  }

  /** The placements of a server, cached briefly. */
  #getCachedPlacements(member: Member): Promise<ServerPlacements> {
    const last = this.#cache.get(member);
    const nowMs = performance.now();
    if (last !== undefined && nowMs - last.requestedAtMs < placementsCacheMs) return last.placements;
    const placements = member.local.rejectIfHanging(() => fetchPlacements(member.local, this.#servers.cluster), {
      isOnlyServer: false,
    });
    placements.catch(() => this.#cache.delete(member));
    this.#cache.set(member, { placements, requestedAtMs: nowMs });
    return placements;
  }

  /** Returns the cached placements. Rejects if the server is now a different shard than before. */
  async #getPlacements(member: Member): Promise<ServerPlacements> {
    return this.#checkShardOrder(member, await this.#getCachedPlacements(member));
  }

  async #fetchPlacements(member: Member): Promise<ServerPlacements> {
    return this.#checkShardOrder(member, await fetchPlacements(member.local, this.#servers.cluster));
  }

  #checkShardOrder(member: Member, placements: ServerPlacements): ServerPlacements {
    const shard = this.#servers.getShard(member);
    for (const [shards, previousIndex] of placements.layouts)
      if (shard !== undefined && previousIndex !== toShardIndex(shard, shards))
        throw new UnavailableError(
          `${member.local.name} is shard ${shard + 1} of the cluster ${this.#servers.cluster} and was ${previousIndex === noShardIndex ? 'none' : `shard ${previousIndex + 1}`} of ${shards}: shards must stay in order: add new shards at the end, and remove the last shard first`,
        );
    return placements;
  }

  /** Checks a server before reading rows of all shards: rejects if the server does not know all shards with rows. */
  async requireAllShards(member: Member): Promise<void> {
    const placements = await this.#getCachedPlacements(member).catch((error: unknown) => {
      // Before the first migration no placements were published.
      if (missingTableCodes.has(getErrorCode(error) ?? 0)) return undefined;
      throw error;
    });
    placements?.checkAllShardsKnown();
  }

  /**
   * Returns the shard that stores rows of a slot in a table. ReplacingMergeTree tables stay on the original number
   * of shards.
   */
  async getShard(table: string, slot: number): Promise<number> {
    const shards = await this.#servers.shards();
    const isSplit = shards > 1 && isReplacedByKey(table);
    return getShardOfPartition(slot, isSplit ? Math.min(shards, await this.#getMinShards(shards)) : shards);
  }

  async #getMinShards(shards: number): Promise<number> {
    if (this.#minShards !== undefined) return this.#minShards;
    const results = await Promise.allSettled(this.#servers.members.map((member) => this.#getPlacements(member)));
    const successes = results.filter((result) => result.status === 'fulfilled');
    if (successes.length === 0) for (const { reason } of results as PromiseRejectedResult[]) throw reason;
    const counts = successes.flatMap(({ value }) => [...value.layouts.keys()]);
    if (counts.length > 0) this.#minShards = Math.min(...counts);
    return this.#minShards ?? shards;
  }

  /**
   * Returns all shards that may have a tenant's rows in these tables, if each can be queried individually; otherwise
   * undefined. Returns at most one shard unless the reader can merge results (`isSplittable`).
   */
  async findShardsOfTenant(
    tenant: string,
    tables: ReadonlySet<string>,
    isSplittable: boolean,
  ): Promise<readonly number[] | undefined> {
    const areShardedByTenant = [...tables].every(isShardedByTenant);
    if (!areShardedByTenant && !isSplittable) return undefined;
    try {
      const shards = await this.#findShards(getTenantPartition(tenant), (placements) => {
        const candidateShards = areShardedByTenant
          ? placements.findShardsOfTenant(tenant, new Set([...tables].flatMap(getSourceTables)))
          : placements.all;
        if (candidateShards.size > 1) placements.checkAllShardsKnown();
        return candidateShards;
      });
      if (shards === undefined || (shards.size > 1 && !isSplittable)) return undefined;
      for (const shard of shards) await this.#servers.getMembers(shard);
      return [...shards];
    } catch {
      // A query for the rows of all shards reports the error.
      return undefined;
    }
  }

  /** Returns the only shard that may have rows of the blocks of a slot. */
  async findOnlyShard(slot: number): Promise<number | undefined> {
    const shards = await this.#findShards(slot, (placements) => placements.findShardsOfSlot(slot));
    const [onlyShard] = shards ?? [];
    return shards?.size === 1 ? onlyShard : undefined;
  }

  /**
   * Returns the placements of the shard of a slot, read from that shard itself, so that no other server is needed.
   * Undefined if the shard does not respond, or is not one of the shards.
   */
  async #findShards(
    slot: number,
    selectShards: (placements: ServerPlacements) => ReadonlySet<number>,
  ): Promise<ReadonlySet<number> | undefined> {
    const shard = getShardOfPartition(slot, await this.#servers.shards());
    // A server of another shard may return the layout.
    for (const member of await this.#servers.getMembers(shard).catch(() => [])) {
      const placements = member.local.isAvoided ? undefined : await this.#getPlacements(member).catch(() => undefined);
      if (placements === undefined || placements.layouts.size === 0) continue;
      const shards = selectShards(placements);
      return shards.has(shard) ? shards : undefined;
    }
    return undefined;
  }

  /**
   * Resolves when rows of these tenants may be inserted into a table on the shard of a slot. Resolves immediately if
   * the rule or an earlier placement allows it; otherwise after all servers were notified and every reader knows.
   * Without tenants, allows rows of any tenant.
   */
  async allow(table: string, slot: number, tenants: readonly string[] | undefined): Promise<void> {
    if (!isShardedByTenant(table)) return;
    const shards = await this.#servers.shards();
    const shard = getShardOfPartition(slot, shards);
    const allowed = this.#allowed.get(shard) ?? new Set();
    this.#allowed.set(shard, allowed);
    const uncheckedTenants = (tenants ?? ['']).filter((tenant) => !allowed.has(toTenantTableKey(tenant, table)));
    if (uncheckedTenants.length === 0) return;
    const placements = await this.#getShardPlacements(shard);
    // Without published shards, no reader queries a single shard.
    if (placements === undefined) return;
    placements.checkAllShardsKnown();
    const isKnown = (tenant: string): boolean =>
      tenant === ''
        ? placements.unrestrictedShards.has(shard)
        : placements.findShardsOfTenant(tenant, [table]).has(shard);
    const newTenants = uncheckedTenants.filter((tenant) => !isKnown(tenant));
    if (newTenants.length > 0 || !placements.layouts.has(shards) || placements.emptyShards.has(shard)) {
      await this.#servers.areAllConfigured();
      await this.#publish(newTenants.map((tenant) => createException(shard, tenant, tenant === '' ? '' : table)));
    }
    for (const tenant of uncheckedTenants) allowed.add(toTenantTableKey(tenant, table));
  }

  /**
   * Returns the placements of a shard; undefined if no placements were published to its servers. Rejects if an
   * unavailable server may have some.
   */
  async #getShardPlacements(shard: number): Promise<ServerPlacements | undefined> {
    let failure: unknown;
    for (const member of await this.#servers.getMembers(shard)) {
      try {
        const placements = await this.#getPlacements(member);
        if (placements.layouts.size > 0) return placements;
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return undefined;
  }

  /**
   * Publishes placements to all servers, including those published to only some of them. Resolves when every reader
   * knows them.
   */
  async #publish(newPlacements: readonly Placement[]): Promise<void> {
    const { members } = this.#servers;
    const shards = await this.#servers.shards();
    const placements = await Promise.all(members.map((member) => this.#fetchPlacements(member)));
    const layout = createLayout(shards);
    const isReactivated = ({ table, shard }: Placement): boolean => table === emptyShardMarker && shard < shards;
    const publishedRows = placements.flatMap(({ rows }) => rows);
    const hasReactivated = publishedRows.some(isReactivated);
    const allPlacements = new Map(
      [...publishedRows.filter((row) => !isReactivated(row)), ...newPlacements, layout].map((row) => [
        toPlacementKey(row),
        row,
      ]),
    );
    const missingPlacements = placements.map(({ rows }) => {
      const keys = new Set(rows.map(toPlacementKey));
      return [...allPlacements.values()].filter((row) => !keys.has(toPlacementKey(row)));
    });
    if (!hasReactivated && missingPlacements.every((rows) => rows.length === 0)) return;
    await Promise.all(
      members.map(async (member, index) => {
        if (hasReactivated) await member.local.runCommand(buildReactivateShards(shards));
        const ownShard = this.#servers.getShard(member) ?? noShardIndex;
        const rows = (missingPlacements[index] ?? []).map((row) =>
          row.shards === 0 ? row : { ...row, shard: toShardIndex(ownShard, row.shards) },
        );
        if (rows.length > 0) await member.local.runCommand(buildInsertPlacements(rows));
      }),
    );
    this.#cache.clear();
    await delay(placementsPropagationMs);
  }

  /**
   * Publishes the shards after the tables were created, and all earlier placements to a new server. If rows on several
   * shards existed before any publication, rows of any tenant may be on every shard. If they existed on one shard, rows
   * of any tenant may be on that shard. Has no effect if not all servers are configured; then all servers are queried.
   */
  async publishShards(): Promise<void> {
    if (!(await this.#servers.areAllConfigured())) return;
    const placements = await Promise.all(this.#servers.members.map((member) => this.#fetchPlacements(member)));
    const shardsWithRows = placements.every(({ rows }) => rows.length === 0) ? await this.#findShardsWithRows() : [];
    const shards = await this.#servers.shards();
    const unrestrictedShards =
      shardsWithRows.length > 1 ? Array.from({ length: shards }, (_, shard) => shard) : shardsWithRows;
    // The first shard was the only server: tables with replacement by key stay there.
    const singleShardLayout = shardsWithRows.length === 1 && shardsWithRows[0] === 0 ? [createLayout(1)] : [];
    await this.#publish([...unrestrictedShards.map((shard) => createException(shard)), ...singleShardLayout]);
  }

  async #findShardsWithRows(): Promise<readonly number[]> {
    const names = allTables.filter(({ name }) => isShardedByTenant(name)).map(({ name }) => quoteString(name));
    const shards = new Set<number>();
    for (const member of this.#servers.members) {
      const rows = await member.local.select(
        `SELECT 1 AS found FROM system.parts WHERE database = currentDatabase() AND active AND rows > 0 AND table IN (${names.join(', ')}) LIMIT 1`,
      );
      const shard = this.#servers.getShard(member);
      if (rows.length > 0 && shard !== undefined) shards.add(shard);
    }
    return [...shards];
  }
}

/** Publishes a number of shards; each server also stores which shard it was. */
const createLayout = (shards: number): Placement => ({ shards, shard: noShardIndex, tenant: '', table: '' });

/** Index of a shard among a number of shards. */
const toShardIndex = (shard: number, shards: number): number => (shard < shards ? shard : noShardIndex);
