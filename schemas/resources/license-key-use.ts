import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import { signals } from '../telemetry-signals.ts';

export const rejectionReasons = ['revoked', 'expired', 'address', 'signal', 'organization', 'kind', 'origin'] as const;

const TimesBySignal = z.partialRecord(z.enum(signals), z.iso.datetime());

/** Use of one secret of a license key, as receivers report it: at most a minute old, over all instances. */
export const LicenseKeyUse = z.strictObject({
  keyId: z.string(),
  /** Time of the last authenticated request. */
  lastUsedAt: z.iso.datetime().nullable(),
  /** Source addresses, latest first. */
  addresses: z.array(z.strictObject({ address: z.string(), at: z.iso.datetime() })),
  /** Time of the first accepted payload of each telemetry signal. */
  firstSeen: TimesBySignal,
  /** Time of the last accepted payload of each telemetry signal. */
  lastSeen: TimesBySignal,
  /** The last request with this secret that was rejected before its body was read. */
  lastRefusal: z
    .strictObject({ at: z.iso.datetime(), address: z.string(), reason: z.enum(rejectionReasons) })
    .nullable(),
});
export type LicenseKeyUse = z.output<typeof LicenseKeyUse>;

export const licenseKeyUses = defineCollection<LicenseKeyUse>({ name: 'license-key-uses', indexes: [['keyId']] });

/** Number of stored addresses per secret. */
export const maxStoredAddresses = 10;

/** Returns the document ID of a secret's use. The beginning of the hash distinguishes the secrets of a key. */
export const buildUseId = (keyId: string, hash: string): string => `${keyId}/${hash.slice(0, 16)}`;

type Latest = string | null | undefined;
const getLatest = (left: Latest, right: Latest): string | null => ((left ?? '') > (right ?? '') ? left : right) ?? null;

/** Merges the uses of one secret that two instances recorded. */
export const mergeUses = (left: LicenseKeyUse, right: LicenseKeyUse): LicenseKeyUse => {
  const addresses = new Map<string, string>();
  for (const { address, at } of [...left.addresses, ...right.addresses])
    addresses.set(address, getLatest(addresses.get(address), at) ?? at);
  const firstSeen = { ...left.firstSeen };
  const lastSeen = { ...left.lastSeen };
  for (const signal of signals) {
    const rightFirst = right.firstSeen[signal];
    if (rightFirst !== undefined && rightFirst < (firstSeen[signal] ?? '~')) firstSeen[signal] = rightFirst;
    const latestSeen = getLatest(lastSeen[signal], right.lastSeen[signal]);
    if (latestSeen !== null) lastSeen[signal] = latestSeen;
  }
  return {
    keyId: left.keyId,
    lastUsedAt: getLatest(left.lastUsedAt, right.lastUsedAt),
    addresses: [...addresses]
      .map(([address, at]) => ({ address, at }))
      .sort((leftEntry, rightEntry) => (leftEntry.at < rightEntry.at ? 1 : -1))
      .slice(0, maxStoredAddresses),
    firstSeen,
    lastSeen,
    lastRefusal: (left.lastRefusal?.at ?? '') > (right.lastRefusal?.at ?? '') ? left.lastRefusal : right.lastRefusal,
  };
};
