/** Shards on which rows may be: by the declared rule, and on others if every server was notified before the insert. */
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
  getShardOfPlace,
  getSourceTables,
  getTenantPlace,
  isReplacedByKey,
  isShardedByTenant,
} from '../../schemas/tables/sharding.ts';
import { getErrorCode } from './server.ts';
import type { ClickhouseServers, Member } from './servers.ts';
import {
  createException,
  fetchPlacements,
  insertPlacements,
  type KnownPlacements,
  type Placement,
  placementKey,
  reactivateShards,
  tenantTableKey,
} from './tenant-placements.ts';

/** Error codes of a server without the table, or without the database */
const missingTableCodes = new Set([60, 81]);

export class Placements {
  readonly #servers: ClickhouseServers;
  readonly #cache = new Map<
    Member,
    { readonly placements: Promise<KnownPlacements>; readonly requestedAtMs: number }
  >();
  /** Tenants and tables that are allowed on each shard. A permission is never revoked. */
  readonly #allowed = new Map<number, Set<string>>();
  /** The smallest number of shards ever published; undefined if none was published. */
  #minShards: number | undefined;

  constructor(servers: ClickhouseServers) {
    this.#servers = servers;
  }

  /** The placements of a server, cached briefly. */
  #cachedPlacements(member: Member): Promise<KnownPlacements> {
    const last = this.#cache.get(member);
    const nowMs = performance.now();
    if (last !== undefined && nowMs - last.requestedAtMs < placementsCacheMs) return last.placements;
    const placements = member.local.rejectIfHanging(() => fetchPlacements(member.local, this.#servers.cluster));
    placements.catch(() => this.#cache.delete(member));
    this.#cache.set(member, { placements, requestedAtMs: nowMs });
    return placements;
  }

  /** Returns the cached placements. Rejects if the server is now a different shard than before. */
  async #placementsOf(member: Member): Promise<KnownPlacements> {
    return this.#checkShardOrder(member, await this.#cachedPlacements(member));
  }

  async #fetchPlacements(member: Member): Promise<KnownPlacements> {
    return this.#checkShardOrder(member, await fetchPlacements(member.local, this.#servers.cluster));
  }

  #checkShardOrder(member: Member, placements: KnownPlacements): KnownPlacements {
    const shard = this.#servers.shardOf(member);
    for (const [shards, previousIndex] of placements.layouts)
      if (shard !== undefined && previousIndex !== shardIndexAmong(shard, shards))
        throw new UnavailableError(
          `${member.local.name} is shard ${shard + 1} of the cluster ${this.#servers.cluster} and was ${previousIndex === noShardIndex ? 'none' : `shard ${previousIndex + 1}`} of ${shards}: shards must stay in order: add new shards at the end, and remove the last shard first`,
        );
    return placements;
  }

  /** Checks a server before reading rows of all shards: rejects if the server does not know all shards with rows. */
  async requireAllShards(member: Member): Promise<void> {
    const placements = await this.#cachedPlacements(member).catch((error: unknown) => {
      // Before the first migration no placements were published.
      if (missingTableCodes.has(getErrorCode(error) ?? 0)) return undefined;
      throw error;
    });
    placements?.checkAllShardsKnown();
  }

  /**
   * Returns the shard that stores rows of a slot in a table. Tables with replacement by key stay on the original number
   * of shards.
   */
  async shardOf(table: string, slot: number): Promise<number> {
    const shards = await this.#servers.shards();
    const isSplit = shards > 1 && isReplacedByKey(table);
    return getShardOfPlace(slot, isSplit ? Math.min(shards, await this.#getMinShards(shards)) : shards);
  }

  async #getMinShards(shards: number): Promise<number> {
    if (this.#minShards !== undefined) return this.#minShards;
    const answers = await Promise.allSettled(this.#servers.members.map((member) => this.#placementsOf(member)));
    const successes = answers.filter((answer) => answer.status === 'fulfilled');
    if (successes.length === 0) for (const { reason } of answers as PromiseRejectedResult[]) throw reason;
    const counts = successes.flatMap(({ value }) => [...value.layouts.keys()]);
    if (counts.length > 0) this.#minShards = Math.min(...counts);
    return this.#minShards ?? shards;
  }

  /**
   * Returns all shards that may have a tenant's rows in these tables, if each can be queried individually; otherwise
   * undefined. Unless the reader can merge answers (`isSplittable`), at most one shard.
   */
  async ofTenant(
    tenant: string,
    tables: ReadonlySet<string>,
    isSplittable: boolean,
  ): Promise<readonly number[] | undefined> {
    const areShardedByTenant = [...tables].every(isShardedByTenant);
    if (!areShardedByTenant && !isSplittable) return undefined;
    try {
      const shards = await this.#shardsOf(getTenantPlace(tenant), (placements) => {
        const all = areShardedByTenant
          ? placements.shardsOfTenant(tenant, new Set([...tables].flatMap(getSourceTables)))
          : placements.all;
        if (all.size > 1) placements.checkAllShardsKnown();
        return all;
      });
      if (shards === undefined || (shards.size > 1 && !isSplittable)) return undefined;
      for (const shard of shards) await this.#servers.membersOf(shard);
      return [...shards];
    } catch {
      // A query for the rows of all shards reports the error.
      return undefined;
    }
  }

  /** Returns the only shard that may have rows of the blocks of a slot. */
  async onlyOfPlace(slot: number): Promise<number | undefined> {
    const shards = await this.#shardsOf(slot, (placements) => placements.shardsOfPlace(slot));
    const [only] = shards ?? [];
    return shards?.size === 1 ? only : undefined;
  }

  /**
   * Returns the placements of the shard of a slot, read from that shard itself, so that no other server is needed.
   * Undefined if it does not answer, or is not one of the shards.
   */
  async #shardsOf(
    slot: number,
    selectShards: (placements: KnownPlacements) => ReadonlySet<number>,
  ): Promise<ReadonlySet<number> | undefined> {
    const shard = getShardOfPlace(slot, await this.#servers.shards());
    // A server of another shard may return the layout.
    for (const member of await this.#servers.membersOf(shard).catch(() => [])) {
      const placements = member.local.isAvoided ? undefined : await this.#placementsOf(member).catch(() => undefined);
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
    const shard = getShardOfPlace(slot, shards);
    const allowed = this.#allowed.get(shard) ?? new Set();
    this.#allowed.set(shard, allowed);
    const uncheckedTenants = (tenants ?? ['']).filter((tenant) => !allowed.has(tenantTableKey(tenant, table)));
    if (uncheckedTenants.length === 0) return;
    const placements = await this.#placementsOfShard(shard);
    // Without published shards, no reader queries a single shard.
    if (placements === undefined) return;
    placements.checkAllShardsKnown();
    const isKnown = (tenant: string): boolean =>
      tenant === '' ? placements.ofAll.has(shard) : placements.shardsOfTenant(tenant, [table]).has(shard);
    const newTenants = uncheckedTenants.filter((tenant) => !isKnown(tenant));
    if (newTenants.length > 0 || !placements.layouts.has(shards) || placements.emptied.has(shard)) {
      await this.#servers.checkAllNamed();
      await this.#publish(newTenants.map((tenant) => createException(shard, tenant, tenant === '' ? '' : table)));
    }
    for (const tenant of uncheckedTenants) allowed.add(tenantTableKey(tenant, table));
  }

  /**
   * Returns the placements of a shard; undefined if no placements were published to its servers. Rejects if an
   * unavailable server may have some.
   */
  async #placementsOfShard(shard: number): Promise<KnownPlacements | undefined> {
    let failure: unknown;
    for (const member of await this.#servers.membersOf(shard)) {
      try {
        const placements = await this.#placementsOf(member);
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
  async #publish(news: readonly Placement[]): Promise<void> {
    const { members } = this.#servers;
    const shards = await this.#servers.shards();
    const placements = await Promise.all(members.map((member) => this.#fetchPlacements(member)));
    const layout = layoutOf(shards);
    const isReactivated = ({ landed_in, shard }: Placement): boolean =>
      landed_in === emptyShardMarker && shard < shards;
    const publishedRows = placements.flatMap(({ rows }) => rows);
    const hasReactivated = publishedRows.some(isReactivated);
    const all = new Map(
      [...publishedRows.filter((row) => !isReactivated(row)), ...news, layout].map((row) => [placementKey(row), row]),
    );
    const missing = placements.map(({ rows }) => {
      const has = new Set(rows.map(placementKey));
      return [...all.values()].filter((row) => !has.has(placementKey(row)));
    });
    if (!hasReactivated && missing.every((rows) => rows.length === 0)) return;
    await Promise.all(
      members.map(async (member, index) => {
        if (hasReactivated) await member.local.command(reactivateShards(shards));
        const ownShard = this.#servers.shardOf(member) ?? noShardIndex;
        const rows = (missing[index] ?? []).map((row) =>
          row.shards === 0 ? row : { ...row, shard: shardIndexAmong(ownShard, row.shards) },
        );
        if (rows.length > 0) await member.local.command(insertPlacements(rows));
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
  async begin(): Promise<void> {
    if (!(await this.#servers.areAllConfigured())) return;
    const placements = await Promise.all(this.#servers.members.map((member) => this.#fetchPlacements(member)));
    const shardsWithRows = placements.every(({ rows }) => rows.length === 0) ? await this.#shardsWithRows() : [];
    const shards = await this.#servers.shards();
    const unrestrictedShards =
      shardsWithRows.length > 1 ? Array.from({ length: shards }, (_, shard) => shard) : shardsWithRows;
    // The first shard was the only server: tables with replacement by key stay there.
    const singleShardLayout = shardsWithRows.length === 1 && shardsWithRows[0] === 0 ? [layoutOf(1)] : [];
    await this.#publish([...unrestrictedShards.map((shard) => createException(shard)), ...singleShardLayout]);
  }

  async #shardsWithRows(): Promise<readonly number[]> {
    const names = allTables.filter(({ name }) => isShardedByTenant(name)).map(({ name }) => quoteString(name));
    const shards = new Set<number>();
    for (const member of this.#servers.members) {
      const found = await member.local.select(
        `SELECT 1 AS found FROM system.parts WHERE database = currentDatabase() AND active AND rows > 0 AND table IN (${names.join(', ')}) LIMIT 1`,
      );
      const shard = this.#servers.shardOf(member);
      if (found.length > 0 && shard !== undefined) shards.add(shard);
    }
    return [...shards];
  }
}

/** Publishes a number of shards; each server also stores which shard it was. */
const layoutOf = (shards: number): Placement => ({ shards, shard: noShardIndex, tenant: '', landed_in: '' });

/** Index of a shard among a number of shards. */
const shardIndexAmong = (shard: number, shards: number): number => (shard < shards ? shard : noShardIndex);
