/** Uses of license keys: collected in memory per request and written a few times a minute. */
import { runEvery } from '../../runtime/interval.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import {
  buildUseId,
  type LicenseKeyUse,
  licenseKeyUses,
  maxStoredAddresses,
  mergeUses,
  type rejectionReasons,
} from '../../schemas/resources/license-key-use.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';

export type RejectionReason = (typeof rejectionReasons)[number];

const checkEveryMs = 1_000;
/**
 * Minimum interval between writes of a secret's use. New facts, such as the first use of a telemetry signal, are
 * written sooner.
 */
const writeEveryMs = 60_000;
const maxPerTransaction = 50;

const toIsoTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
const toIsoTimes = (timesBySignal: ReadonlyMap<Signal, number>): LicenseKeyUse['firstSeen'] =>
  Object.fromEntries([...timesBySignal].map(([signal, at]) => [signal, toIsoTime(at)]));

/** Use of one secret. Its methods are cheap enough for every request. */
export class KeyUse {
  readonly tenantId: string;
  readonly keyId: string;
  readonly id: string;
  readonly #clock: Clock;
  readonly #addresses = new Map<string, number>();
  readonly #firstSeen = new Map<Signal, number>();
  readonly #lastSeen = new Map<Signal, number>();
  #lastUsedMs: number | undefined;
  #lastRejection: LicenseKeyUse['lastRefusal'] = null;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #isDirty = false;
  #hasNewUse = false;

  constructor(clock: Clock, { tenantId, keyId, hash }: { tenantId: string; keyId: string; hash: string }) {
    this.#clock = clock;
    this.tenantId = tenantId;
    this.keyId = keyId;
    this.id = buildUseId(keyId, hash);
  }

  /** Records that it authenticated a request. Without an address, because those of visitors are not stored. */
  recordUse(address?: string): void {
    const now = this.#clock.now();
    this.#lastUsedMs = now;
    this.#isDirty = true;
    if (address === undefined) return;
    this.#addresses.set(address, now);
    if (this.#addresses.size <= maxStoredAddresses) return;
    const [oldestEntry] = [...this.#addresses].sort(([, left], [, right]) => left - right);
    if (oldestEntry !== undefined) this.#addresses.delete(oldestEntry[0]);
  }

  /** Records an accepted payload. */
  recordAccepted(signal: Signal): void {
    const now = this.#clock.now();
    this.#lastSeen.set(signal, now);
    this.#isDirty = true;
    if (this.#firstSeen.has(signal)) return;
    this.#firstSeen.set(signal, now);
    this.#hasNewUse = true;
  }

  recordRejected(address: string, reason: RejectionReason): void {
    if (this.#lastRejection === null) this.#hasNewUse = true;
    this.#lastRejection = { at: toIsoTime(this.#clock.now()), address, reason };
    this.#isDirty = true;
  }

  isDue(now: number): boolean {
    return this.#isDirty && (this.#hasNewUse || now - this.#writtenMs >= writeEveryMs);
  }

  get isDirty(): boolean {
    return this.#isDirty;
  }

  /** Returns the use to write; later uses make it due again. */
  takeSnapshot(now: number): LicenseKeyUse {
    this.#isDirty = false;
    this.#hasNewUse = false;
    this.#writtenMs = now;
    return {
      keyId: this.keyId,
      lastUsedAt: this.#lastUsedMs === undefined ? null : toIsoTime(this.#lastUsedMs),
      addresses: [...this.#addresses].map(([address, at]) => ({ address, at: toIsoTime(at) })),
      firstSeen: toIsoTimes(this.#firstSeen),
      lastSeen: toIsoTimes(this.#lastSeen),
      lastRefusal: this.#lastRejection,
    };
  }

  /** Marks a failed write: the use stays in memory and is retried later. */
  markUnwritten(): void {
    this.#isDirty = true;
  }
}

/** Writes uses as they become due. Uses of one secret from several instances are merged in the store. */
export class KeyUses {
  readonly #documents: Documents;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #uses = new Map<string, KeyUse>();
  readonly #stopWriting: () => void;
  #writing: Promise<void> = Promise.resolve();

  constructor(documents: Documents, clock: Clock, log: Log) {
    this.#documents = documents;
    this.#clock = clock;
    this.#log = log;
    this.#stopWriting = runEvery(checkEveryMs, () => void this.writeDue());
  }

  /** Returns the use of a secret, always the same object. */
  findOrCreate(secret: { readonly tenantId: string; readonly keyId: string; readonly hash: string }): KeyUse {
    const useKey = `${secret.tenantId}/${buildUseId(secret.keyId, secret.hash)}`;
    const use = this.#uses.get(useKey) ?? new KeyUse(this.#clock, secret);
    this.#uses.set(useKey, use);
    return use;
  }

  /** Writes all pending uses, unless the store rejects them. */
  async close(): Promise<void> {
    this.#stopWriting();
    await this.#writing;
    await this.#write([...this.#uses.values()].filter((use) => use.isDirty));
  }

  /** Writes due uses; never rejects. */
  writeDue(): Promise<void> {
    this.#writing = this.#writing.then(() => {
      const now = this.#clock.now();
      return this.#write([...this.#uses.values()].filter((use) => use.isDue(now)));
    });
    return this.#writing;
  }

  /** Never rejects: requests are served whether or not their use can be written. */
  async #write(uses: readonly KeyUse[]): Promise<void> {
    const now = this.#clock.now();
    for (let offset = 0; offset < uses.length; offset += maxPerTransaction) {
      const batch = uses
        .slice(offset, offset + maxPerTransaction)
        .map((use) => ({ use, snapshot: use.takeSnapshot(now) }));
      try {
        await this.#documents.transaction(async (transaction) => {
          for (const { use, snapshot } of batch) {
            const stored = transaction.forTenant(use.tenantId).collection(licenseKeyUses);
            const storedUse = await stored.find(use.id);
            if (storedUse === undefined) await stored.insert({ id: use.id, ...mergeUses(snapshot, snapshot) });
            else await stored.replace(use.id, mergeUses(storedUse, snapshot), storedUse.version);
          }
        });
      } catch (error) {
        for (const { use } of batch) use.markUnwritten();
        this.#log.warn(
          { error: error instanceof Error ? error.message : String(error) },
          'the use of license keys could not be written',
        );
        // The rest stays due. Each further attempt would wait as long as this one.
        return;
      }
    }
  }
}
