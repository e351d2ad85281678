import { z } from 'zod';
import type { Stored, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type LicenseKey, LicenseKeyFields } from '../../../schemas/resources/license-key.ts';
import { LicenseKeyUse, licenseKeyUses, useId } from '../../../schemas/resources/license-key-use.ts';
import { storedView } from '../../resources/resource-spec.ts';

const use = {
  lastUsedAt: z.iso.datetime().nullable().describe('At most a minute old'),
  addresses: LicenseKeyUse.shape.addresses.describe('Source addresses, the latest first'),
  lastRefusal: LicenseKeyUse.shape.lastRefusal.describe('Last rejected request with the key, and the reason'),
};

/** A license key in API answers, without the secret */
export const LicenseKeyView = z.strictObject({
  ...LicenseKeyFields.shape,
  projectId: z.string(),
  prefix: z.string().describe('First characters of the key'),
  state: z.enum(['active', 'expired', 'revoked']),
  revokedAt: z.iso.datetime().nullable(),
  ...use,
  firstSeen: LicenseKeyUse.shape.firstSeen.describe('Time when each signal was first accepted with it'),
  lastSeen: LicenseKeyUse.shape.lastSeen,
  previous: z
    .array(
      z.strictObject({
        prefix: z.string(),
        rotatedAt: z.iso.datetime(),
        validUntil: z.iso.datetime(),
        isActive: z.boolean(),
        ...use,
      }),
    )
    .describe('Rotated keys, the newest first: they show who still uses them'),
  ...storedView,
});
export type LicenseKeyView = z.output<typeof LicenseKeyView>;

type Key = LicenseKey & Stored;

export const stateOf = ({ revokedAt, expiresAt }: Pick<LicenseKey, 'revokedAt' | 'expiresAt'>, now: number) => {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active';
};

/** Returns views of keys, with the uses of their secrets. */
export const viewsOf = async (
  documents: TenantDocuments,
  keys: readonly Key[],
  now: number,
): Promise<LicenseKeyView[]> => {
  const filter = { keyId: { $in: keys.map(({ id }) => id) } };
  const page = await documents.collection(licenseKeyUses).list({ filter, limit: 10_000 });
  const uses = new Map(page.items.map((one) => [one.id, one]));
  return keys.map((key) => viewOf(key, (hash) => uses.get(useId(key.id, hash)), now));
};

type Used = LicenseKeyUse | undefined;

const usedOf = (use: Used) => ({
  lastUsedAt: use?.lastUsedAt ?? null,
  addresses: use?.addresses ?? [],
  lastRefusal: use?.lastRefusal ?? null,
});

const viewOf = (key: Key, useOf: (hash: string) => Used, now: number): LicenseKeyView => {
  const { hash, previous = [], ...shown } = key;
  const use = useOf(hash);
  const state = stateOf(key, now);
  return {
    ...shown,
    state,
    ...usedOf(use),
    ...seenOf([hash, ...previous.map((one) => one.hash)].map(useOf)),
    previous: previous.map(({ hash: earlier, prefix, rotatedAt, validUntil }) => ({
      prefix,
      rotatedAt,
      validUntil,
      isActive: state === 'active' && Date.parse(validUntil) > now,
      ...usedOf(useOf(earlier)),
    })),
  };
};

/** First and last times of telemetry signals, over all secrets of a key. */
const seenOf = (uses: readonly Used[]): Pick<LicenseKeyView, 'firstSeen' | 'lastSeen'> => {
  const seen = { firstSeen: {} as LicenseKeyUse['firstSeen'], lastSeen: {} as LicenseKeyUse['lastSeen'] };
  for (const one of uses) {
    for (const [signal, at] of entriesOf(one?.firstSeen))
      if (at < (seen.firstSeen[signal] ?? '~')) seen.firstSeen[signal] = at;
    for (const [signal, at] of entriesOf(one?.lastSeen))
      if (at > (seen.lastSeen[signal] ?? '')) seen.lastSeen[signal] = at;
  }
  return seen;
};

type Times = LicenseKeyUse['firstSeen'];
const entriesOf = (times: Times = {}) => Object.entries(times) as [keyof Times, string][];
