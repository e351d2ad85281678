/**
 * Looks up the heartbeat of a token in memory. The documents' change feed updates it, so no store is read after
 * loading.
 */
import { hash } from 'node:crypto';
import type { Documents, Feed } from '../../schemas/ports/documents.ts';
import { type StoredCheck, syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import {
  heartbeatTokenFormat,
  type SyntheticHeartbeatToken,
  syntheticHeartbeatTokens,
} from '../../schemas/resources/synthetic-heartbeat-token.ts';

/** Heartbeat of a token. */
export interface Heartbeat {
  readonly tenantId: string;
  readonly checkId: string;
  readonly projectId: string;
  readonly name: string;
  readonly enabled: boolean;
}

interface CheckPath {
  readonly tenantId: string;
  readonly id: string;
}

const toCheckKey = ({ tenantId, id }: CheckPath): string => `${tenantId}/${id}`;

/** Current lookup of organizations. */
interface Organizations {
  isEnabled(tenantId: string): boolean;
}

export class HeartbeatKeyring {
  readonly #pathByTokenHash = new Map<string, CheckPath>();
  readonly #tokenHashByCheck = new Map<string, string>();
  /** Heartbeats only, by tenant and id. */
  readonly #checks = new Map<string, Map<string, StoredCheck>>();
  readonly #organizations: Organizations;
  #feeds: Feed[] = [];

  private constructor(organizations: Organizations) {
    this.#organizations = organizations;
  }

  /** Loads the keyring. Resolves once everything is loaded. */
  static async load(documents: Pick<Documents, 'follow'>, organizations: Organizations): Promise<HeartbeatKeyring> {
    const keyring = new HeartbeatKeyring(organizations);
    keyring.#feeds = await Promise.all([
      documents.follow(syntheticChecks, (change) => keyring.#changeCheck(change, change.document)),
      documents.follow(syntheticHeartbeatTokens, (change) => keyring.#changeToken(change, change.document)),
    ]);
    return keyring;
  }

  /** Returns the heartbeat of a token; undefined if the token does not exist, or no longer exists. */
  lookup(token: string): Heartbeat | undefined {
    if (!heartbeatTokenFormat.isWellFormed(token)) return undefined;
    const checkPath = this.#pathByTokenHash.get(hash('sha256', token));
    const check = checkPath && this.#checks.get(checkPath.tenantId)?.get(checkPath.id);
    if (checkPath === undefined || check === undefined) return undefined;
    const { tenantId, id } = checkPath;
    const enabled = check.enabled && this.#organizations.isEnabled(tenantId);
    return { tenantId, checkId: id, projectId: check.projectId ?? '', name: check.name, enabled };
  }

  /** Yields organizations with enabled heartbeats. */
  *tenants(): Generator<string, void, undefined> {
    for (const [tenantId, checks] of this.#checks)
      if (this.#organizations.isEnabled(tenantId) && [...checks.values()].some(({ enabled }) => enabled))
        yield tenantId;
  }

  async close(): Promise<void> {
    await Promise.all(this.#feeds.map((feed) => feed.close()));
  }

  #changeCheck({ tenantId, id }: CheckPath, check: StoredCheck | undefined): void {
    const checks = this.#checks.get(tenantId) ?? new Map<string, StoredCheck>();
    if (check?.type === 'heartbeat') checks.set(id, check);
    else checks.delete(id);
    if (checks.size === 0) this.#checks.delete(tenantId);
    else this.#checks.set(tenantId, checks);
  }

  #changeToken(checkPath: CheckPath, token: SyntheticHeartbeatToken | undefined): void {
    this.#pathByTokenHash.delete(this.#tokenHashByCheck.get(toCheckKey(checkPath)) ?? '');
    this.#tokenHashByCheck.delete(toCheckKey(checkPath));
    if (token === undefined) return;
    this.#tokenHashByCheck.set(toCheckKey(checkPath), token.hash);
    this.#pathByTokenHash.set(token.hash, { tenantId: checkPath.tenantId, id: checkPath.id });
  }
}
