/** License keys, organizations and plans, held in memory and updated by the documents' change feed. */
import { hash } from 'node:crypto';
import { resolvePrivacy } from '../../schemas/browser-privacy.ts';
import { isWellFormedLicenseKey } from '../../schemas/license-key-format.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { DocumentChange, Documents, Feed } from '../../schemas/ports/documents.ts';
import type { LicenseKey } from '../../schemas/resources/license-key.ts';
import { licenseKeys } from '../../schemas/resources/license-key.ts';
import type { Organization } from '../../schemas/resources/organization.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import type { Plan } from '../../schemas/resources/plan.ts';
import { plans } from '../../schemas/resources/plan.ts';
import { type Project, projects } from '../../schemas/resources/project.ts';
import {
  emptyQuota,
  getRejectThresholds,
  type Quota,
  type QuotaScope,
  quotas,
  type RejectThreshold,
} from '../../schemas/resources/quota.ts';
import { type Networks, parseNetworks } from '../../schemas/source-address.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { createOriginTest } from '../../schemas/web-origin.ts';
import type { BrowserContext } from './body-format.ts';
import type { KeyUse, KeyUses } from './key-uses.ts';

/** A threshold of an organization or a key. */
export type ByteThreshold = Omit<RejectThreshold, 'scope'> & { readonly scope: QuotaScope | KeyScope };
export type KeyScope = `key/${string}`;

/** Organization of a key and its permissions, by the current documents. */
export interface Caller {
  readonly tenantId: string;
  readonly projectId: string;
  readonly keyId: string;
  readonly shards: number;
  /** Whether the organization is enabled and has a plan. */
  readonly enabled: boolean;
  /** Telemetry signals enabled on the key and in the plan. */
  readonly signals: ReadonlySet<Signal>;
  readonly allowedNetworks: Networks;
  readonly limits: Plan['limits'];
  readonly retentionDays: Plan['retentionDays'];
  /** Quotas that bytes of each telemetry signal count against. */
  readonly thresholds: Readonly<Record<Signal, readonly ByteThreshold[]>>;
  /** Limit of the key itself, if it has one. */
  readonly requestsPerSecond: number | null;
  /** Records the uses and rejections of the key. */
  readonly use: KeyUse;
  /** Undefined for keys of servers. */
  readonly browser: BrowserAccess | undefined;
  /** Whether secrets in the telemetry of its project are replaced before it is published. */
  readonly redactsSecrets: boolean;
}

/** Application and restrictions of a browser key. */
export interface BrowserAccess {
  /** Context for the translation of bodies */
  readonly context: BrowserContext;
  /** Returns whether pages of an origin may use the key. */
  isAllowedOrigin(origin: string): boolean;
}

const maxCachedSecrets = 10_000;
const noLimits: Plan['limits'] = { requestsPerSecond: 1, requestsBurst: 1, requestsPerMinute: 1, bytesPerDay: null };
const noRetention: Plan['retentionDays'] = { logs: 0, metrics: 0, traces: 0 };

/** One secret of a key: the current one, or one that was rotated out. */
interface KeyEntry {
  readonly tenantId: string;
  readonly keyId: string;
  readonly key: LicenseKey;
  readonly hash: string;
  readonly expiresAtMs: number;
  readonly allowedNetworks: Networks;
  readonly use: KeyUse;
  caller: Caller | undefined;
}

const parseEndMs = (time: string | null | undefined): number => (time ? Date.parse(time) : Number.POSITIVE_INFINITY);

/**
 * Returns the networks of a list. If it cannot be parsed, no address is allowed, because a mistake must not open access.
 */
const parseNetworksOrNone = (entries: readonly string[]): Networks => {
  try {
    return parseNetworks(entries);
  } catch {
    return { isEmpty: false, contains: () => false };
  }
};

/** Finds the caller of a secret in memory, which follows the change feed. Reads no store once loaded. */
export class Keyring {
  readonly #clock: Clock;
  readonly #uses: Pick<KeyUses, 'findOrCreate'>;
  readonly #byHash = new Map<string, KeyEntry>();
  readonly #byId = new Map<string, readonly KeyEntry[]>();
  readonly #organizations = new Map<string, Organization>();
  readonly #plans = new Map<string, Plan>();
  /** By tenant and id; only the projects that have a setting about their telemetry. */
  readonly #projects = new Map<string, Project>();
  /** By tenant. */
  readonly #quotas = new Map<string, Quota>();
  /** Cached secrets with their entry's hash, so that requests need not hash again. */
  readonly #secrets = new Map<string, string>();
  #feeds: Feed[] = [];

  private constructor(clock: Clock, uses: Pick<KeyUses, 'findOrCreate'>) {
    this.#clock = clock;
    this.#uses = uses;
  }

  /** Loads the keyring. Resolves once everything is loaded. */
  static async load(documents: Documents, clock: Clock, uses: Pick<KeyUses, 'findOrCreate'>): Promise<Keyring> {
    const keyring = new Keyring(clock, uses);
    keyring.#feeds = await Promise.all([
      documents.follow(plans, (change) => keyring.#put(keyring.#plans, change)),
      documents.follow(organizations, (change) => keyring.#put(keyring.#organizations, change)),
      documents.follow(projects, (change) => keyring.#putProject(change)),
      documents.follow(quotas, (change) => keyring.#put(keyring.#quotas, { ...change, id: change.tenantId })),
      documents.follow(licenseKeys, (change) => keyring.#changeKey(change)),
    ]);
    return keyring;
  }

  /** Returns the time since all changes were known. */
  staleMs(): number {
    let maxStaleMs = 0;
    for (const feed of this.#feeds) maxStaleMs = Math.max(maxStaleMs, feed.getStaleMs());
    return maxStaleMs;
  }

  /** Returns the caller of a secret; undefined if it is unknown, revoked, expired or rotated out. */
  lookup(secret: string, source: string): Caller | undefined {
    const entry = this.#find(secret);
    if (entry === undefined) return undefined;
    const visibleSource = entry.key.kind === 'browser' ? '' : source;
    const denialReason =
      entry.key.revokedAt !== null ? 'revoked' : entry.expiresAtMs <= this.#clock.now() ? 'expired' : undefined;
    if (denialReason !== undefined) {
      entry.use.recordRejected(visibleSource, denialReason);
      return undefined;
    }
    entry.caller ??= this.#createCaller(entry);
    return entry.caller;
  }

  /** Returns whether an organization exists and is not disabled. */
  isEnabled(tenantId: string): boolean {
    return this.#organizations.get(tenantId)?.disabled === false;
  }

  async close(): Promise<void> {
    await Promise.all(this.#feeds.map((feed) => feed.close()));
  }

  #find(secret: string): KeyEntry | undefined {
    const cachedHash = this.#secrets.get(secret);
    if (cachedHash !== undefined) return this.#byHash.get(cachedHash);
    if (!isWellFormedLicenseKey(secret)) return undefined;
    const digest = hash('sha256', secret);
    const entry = this.#byHash.get(digest);
    if (entry === undefined) return undefined;
    if (this.#secrets.size >= maxCachedSecrets) this.#secrets.clear();
    this.#secrets.set(secret, digest);
    return entry;
  }

  #createCaller({ tenantId, keyId, key, allowedNetworks, use }: KeyEntry): Caller {
    const organization = this.#organizations.get(tenantId);
    const plan = organization && this.#plans.get(organization.planId);
    const entitledSignals = new Set(plan?.entitlements ?? []);
    const limits = plan?.limits ?? noLimits;
    const all = getRejectThresholds(limits, this.#quotas.get(tenantId) ?? emptyQuota);
    const { maxBytesPerDay = null } = key;
    const keyThresholds: ByteThreshold[] =
      maxBytesPerDay === null ? [] : [{ window: 'day', scope: `key/${keyId}`, bytes: maxBytesPerDay, isPlan: false }];
    const filterThresholds = (signal: Signal) => [
      ...all.filter(({ scope }) => scope === 'total' || scope === signal),
      ...keyThresholds,
    ];
    return {
      tenantId,
      projectId: key.projectId,
      keyId,
      shards: organization?.shards ?? 1,
      enabled: this.isEnabled(tenantId) && plan !== undefined,
      signals: new Set(key.signals.filter((signal) => entitledSignals.has(signal))),
      allowedNetworks,
      limits,
      retentionDays: plan?.retentionDays ?? noRetention,
      thresholds: {
        logs: filterThresholds('logs'),
        metrics: filterThresholds('metrics'),
        traces: filterThresholds('traces'),
      },
      requestsPerSecond: key.requestsPerSecond ?? null,
      use,
      browser: this.#createBrowserAccess(tenantId, key),
      redactsSecrets: this.#projects.get(`${tenantId}/${key.projectId}`)?.secrets === 'redact',
    };
  }

  #createBrowserAccess(
    tenantId: string,
    { kind, application, origins, projectId }: LicenseKey,
  ): BrowserAccess | undefined {
    if (kind !== 'browser' || application === null) return undefined;
    const project = this.#projects.get(`${tenantId}/${projectId}`);
    const privacy = resolvePrivacy(project?.browserPrivacy ?? {}, application);
    return { context: { tenantId, application, privacy }, isAllowedOrigin: createOriginTest(origins) };
  }

  #putProject({ tenantId, id, document }: DocumentChange<Project>): void {
    const hasSetting = document?.browserPrivacy !== undefined || document?.secrets === 'redact';
    if (!hasSetting && !this.#projects.has(`${tenantId}/${id}`)) return;
    this.#put(this.#projects, { tenantId, id: `${tenantId}/${id}`, document: hasSetting ? document : undefined });
  }

  #put<Fields extends object>(map: Map<string, Fields>, { id, document }: DocumentChange<Fields>): void {
    if (document === undefined) map.delete(id);
    else map.set(id, document);
    for (const entry of this.#byHash.values()) entry.caller = undefined;
  }

  #changeKey({ tenantId, id, document }: DocumentChange<LicenseKey>): void {
    const keyPath = `${tenantId}/${id}`;
    for (const previousEntry of this.#byId.get(keyPath) ?? []) this.#byHash.delete(previousEntry.hash);
    this.#byId.delete(keyPath);
    if (document === undefined) return;
    const key = { ...document, revokedAt: document.revokedAt ?? null };
    const allowedNetworks = parseNetworksOrNone(document.allowedCidrs ?? []);
    const createEntry = (hash: string, expiresAtMs: number): KeyEntry => {
      const use = this.#uses.findOrCreate({ tenantId, keyId: id, hash });
      return { tenantId, keyId: id, key, hash, expiresAtMs, allowedNetworks, use, caller: undefined };
    };
    const expiresAtMs = parseEndMs(document.expiresAt);
    const entries = [
      createEntry(document.hash, expiresAtMs),
      ...(document.previous ?? []).map(({ hash, validUntil }) =>
        createEntry(hash, Math.min(expiresAtMs, parseEndMs(validUntil))),
      ),
    ];
    this.#byId.set(keyPath, entries);
    for (const entry of entries) this.#byHash.set(entry.hash, entry);
  }
}
