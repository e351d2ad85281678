import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { signals } from '../telemetry-signals.ts';

export const refusalReasons = ['revoked', 'expired', 'address', 'signal', 'organization'] as const;

const Times = z.partialRecord(z.enum(signals), z.iso.datetime());

/** How one secret of a license key was used, as receivers tell it: at most a minute behind, over all instances. */
export const LicenseKeyUse = z.strictObject({
  keyId: z.string(),
  /** When it last authenticated a request. */
  lastUsedAt: z.iso.datetime().nullable(),
  /** Where from, the latest first. */
  addresses: z.array(z.strictObject({ address: z.string(), at: z.iso.datetime() })),
  /** When a payload of each signal was first accepted. */
  firstSeen: Times,
  /** And last. */
  lastSeen: Times,
  /** The last request with it that was refused before its body was looked at. */
  lastRefusal: z.strictObject({ at: z.iso.datetime(), address: z.string(), reason: z.enum(refusalReasons) }).nullable(),
});
export type LicenseKeyUse = z.output<typeof LicenseKeyUse>;

export const licenseKeyUses = defineCollection<LicenseKeyUse>({ name: 'license-key-uses', indexes: [['keyId']] });

/** Addresses that are remembered of a secret. */
export const rememberedAddresses = 10;

/** Document id of a secret's use. The beginning of the hash tells a key's secrets apart. */
export const useId = (keyId: string, hash: string): string => `${keyId}/${hash.slice(0, 16)}`;

type Latest = string | null | undefined;
const later = (left: Latest, right: Latest): string | null => ((left ?? '') > (right ?? '') ? left : right) ?? null;

/** What two instances know of the same secret, as one. */
export const mergedUse = (left: LicenseKeyUse, right: LicenseKeyUse): LicenseKeyUse => {
  const addresses = new Map<string, string>();
  for (const { address, at } of [...left.addresses, ...right.addresses])
    addresses.set(address, later(addresses.get(address), at) ?? at);
  const firstSeen = { ...left.firstSeen };
  const lastSeen = { ...left.lastSeen };
  for (const signal of signals) {
    const first = right.firstSeen[signal];
    if (first !== undefined && first < (firstSeen[signal] ?? '~')) firstSeen[signal] = first;
    const last = later(lastSeen[signal], right.lastSeen[signal]);
    if (last !== null) lastSeen[signal] = last;
  }
  return {
    keyId: left.keyId,
    lastUsedAt: later(left.lastUsedAt, right.lastUsedAt),
    addresses: [...addresses]
      .map(([address, at]) => ({ address, at }))
      .sort((one, other) => (one.at < other.at ? 1 : -1))
      .slice(0, rememberedAddresses),
    firstSeen,
    lastSeen,
    lastRefusal: (left.lastRefusal?.at ?? '') > (right.lastRefusal?.at ?? '') ? left.lastRefusal : right.lastRefusal,
  };
};
