/** Uses of license keys: collected in memory per request and written a few times a minute. */
import { runEvery } from '../../runtime/interval.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import {
  type LicenseKeyUse,
  licenseKeyUses,
  mergedUse,
  type refusalReasons,
  rememberedAddresses,
  useId,
} from '../../schemas/resources/license-key-use.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';

export type RefusalReason = (typeof refusalReasons)[number];

const checkEveryMs = 1_000;
/**
 * Minimum interval between writes of a secret's use, except for something new, such as the first use of a telemetry
 * signal.
 */
const writeEveryMs = 60_000;
const chunk = 50;

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();
const times = (of: ReadonlyMap<Signal, number>): LicenseKeyUse['firstSeen'] =>
  Object.fromEntries([...of].map(([signal, at]) => [signal, iso(at)]));

/** Use of one secret. Its methods cost a request next to nothing. */
export class KeyUse {
  readonly tenantId: string;
  readonly keyId: string;
  readonly id: string;
  readonly #clock: Clock;
  readonly #addresses = new Map<string, number>();
  readonly #firstSeen = new Map<Signal, number>();
  readonly #lastSeen = new Map<Signal, number>();
  #lastUsedMs: number | undefined;
  #lastRefusal: LicenseKeyUse['lastRefusal'] = null;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #dirty = false;
  #news = false;

  constructor(clock: Clock, { tenantId, keyId, hash }: { tenantId: string; keyId: string; hash: string }) {
    this.#clock = clock;
    this.tenantId = tenantId;
    this.keyId = keyId;
    this.id = useId(keyId, hash);
  }

  /** Records that it authenticated a request. */
  used(address: string): void {
    const now = this.#clock.now();
    this.#lastUsedMs = now;
    this.#dirty = true;
    this.#addresses.set(address, now);
    if (this.#addresses.size <= rememberedAddresses) return;
    const [oldest] = [...this.#addresses].sort(([, one], [, other]) => one - other);
    if (oldest !== undefined) this.#addresses.delete(oldest[0]);
  }

  /** Records an accepted payload. */
  accepted(signal: Signal): void {
    const now = this.#clock.now();
    this.#lastSeen.set(signal, now);
    this.#dirty = true;
    if (this.#firstSeen.has(signal)) return;
    this.#firstSeen.set(signal, now);
    this.#news = true;
  }

  refused(address: string, reason: RefusalReason): void {
    if (this.#lastRefusal === null) this.#news = true;
    this.#lastRefusal = { at: iso(this.#clock.now()), address, reason };
    this.#dirty = true;
  }

  isDue(now: number): boolean {
    return this.#dirty && (this.#news || now - this.#writtenMs >= writeEveryMs);
  }

  get isDirty(): boolean {
    return this.#dirty;
  }

  /** Returns the use to write; later uses make it due again. */
  snapshot(now: number): LicenseKeyUse {
    this.#dirty = false;
    this.#news = false;
    this.#writtenMs = now;
    return {
      keyId: this.keyId,
      lastUsedAt: this.#lastUsedMs === undefined ? null : iso(this.#lastUsedMs),
      addresses: [...this.#addresses].map(([address, at]) => ({ address, at: iso(at) })),
      firstSeen: times(this.#firstSeen),
      lastSeen: times(this.#lastSeen),
      lastRefusal: this.#lastRefusal,
    };
  }

  /** Marks a failed write: the use stays in memory and is retried later. */
  markUnwritten(): void {
    this.#dirty = true;
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
  of(secret: { readonly tenantId: string; readonly keyId: string; readonly hash: string }): KeyUse {
    const place = `${secret.tenantId}/${useId(secret.keyId, secret.hash)}`;
    const use = this.#uses.get(place) ?? new KeyUse(this.#clock, secret);
    this.#uses.set(place, use);
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
    for (let at = 0; at < uses.length; at += chunk) {
      const part = uses.slice(at, at + chunk).map((use) => ({ use, snapshot: use.snapshot(now) }));
      try {
        await this.#documents.transaction(async (transaction) => {
          for (const { use, snapshot } of part) {
            const stored = transaction.of(use.tenantId).collection(licenseKeyUses);
            const before = await stored.find(use.id);
            if (before === undefined) await stored.insert({ id: use.id, ...mergedUse(snapshot, snapshot) });
            else await stored.replace(use.id, mergedUse(before, snapshot), before.version);
          }
        });
      } catch (error) {
        for (const { use } of part) use.markUnwritten();
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
