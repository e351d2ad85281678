import { z } from 'zod';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type LicenseKey, LicenseKeyFields } from '../../../schemas/resources/license-key.ts';
import { buildUseId, LicenseKeyUse, licenseKeyUses } from '../../../schemas/resources/license-key-use.ts';
import { storedView } from '../../resources/resource-spec.ts';

const usageFields = {
  lastUsedAt: z.iso.datetime().nullable().describe('At most a minute old'),
  addresses: LicenseKeyUse.shape.addresses.describe('Source addresses, the latest first'),
  lastRefusal: LicenseKeyUse.shape.lastRefusal.describe('Last rejected request with the key, and the reason'),
};

/** A license key in API responses, without the secret of a server key */
export const LicenseKeyView = z.strictObject({
  ...LicenseKeyFields.shape,
  projectId: z.string(),
  prefix: z.string().describe('First characters of the key'),
  publicKey: z.string().nullable().describe('The whole key of a browser, which pages show; `null` for server keys'),
  state: z.enum(['active', 'expired', 'revoked']),
  revokedAt: z.iso.datetime().nullable(),
  ...usageFields,
  firstSeen: LicenseKeyUse.shape.firstSeen.describe('Time when each signal was first accepted with it'),
  lastSeen: LicenseKeyUse.shape.lastSeen,
  previous: z
    .array(
      z.strictObject({
        prefix: z.string(),
        rotatedAt: z.iso.datetime(),
        validUntil: z.iso.datetime(),
        isActive: z.boolean(),
        ...usageFields,
      }),
    )
    .describe('Rotated keys, the newest first, each with its last use'),
  ...storedView,
});
export type LicenseKeyView = z.output<typeof LicenseKeyView>;

type Key = LicenseKey & StoredMetadata;

export const getKeyState = ({ revokedAt, expiresAt }: Pick<LicenseKey, 'revokedAt' | 'expiresAt'>, now: number) => {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active';
};

/** Returns views of keys, with the uses of their secrets. */
export const toViews = async (
  documents: TenantDocuments,
  keys: readonly Key[],
  now: number,
): Promise<LicenseKeyView[]> => {
  const filter = { keyId: { $in: keys.map(({ id }) => id) } };
  const page = await documents.collection(licenseKeyUses).list({ filter, limit: 10_000 });
  const uses = new Map(page.items.map((one) => [one.id, one]));
  return keys.map((key) => toView(key, (hash) => uses.get(buildUseId(key.id, hash)), now));
};

type OptionalUse = LicenseKeyUse | undefined;

const toUsageView = (use: OptionalUse) => ({
  lastUsedAt: use?.lastUsedAt ?? null,
  addresses: use?.addresses ?? [],
  lastRefusal: use?.lastRefusal ?? null,
});

const toView = (key: Key, findUse: (hash: string) => OptionalUse, now: number): LicenseKeyView => {
  const { hash, previous = [], publicKey = null, ...visibleFields } = key;
  const use = findUse(hash);
  const state = getKeyState(key, now);
  return {
    ...visibleFields,
    publicKey,
    state,
    ...toUsageView(use),
    ...summarizeSeenTimes([hash, ...previous.map((earlierSecret) => earlierSecret.hash)].map(findUse)),
    previous: previous.map(({ hash: previousHash, prefix, rotatedAt, validUntil }) => ({
      prefix,
      rotatedAt,
      validUntil,
      isActive: state === 'active' && Date.parse(validUntil) > now,
      ...toUsageView(findUse(previousHash)),
    })),
  };
};

/** First and last times of telemetry signals, over all secrets of a key. */
const summarizeSeenTimes = (uses: readonly OptionalUse[]): Pick<LicenseKeyView, 'firstSeen' | 'lastSeen'> => {
  const seenTimes = { firstSeen: {} as LicenseKeyUse['firstSeen'], lastSeen: {} as LicenseKeyUse['lastSeen'] };
  for (const use of uses) {
    for (const [signal, at] of signalEntries(use?.firstSeen))
      if (at < (seenTimes.firstSeen[signal] ?? '~')) seenTimes.firstSeen[signal] = at;
    for (const [signal, at] of signalEntries(use?.lastSeen))
      if (at > (seenTimes.lastSeen[signal] ?? '')) seenTimes.lastSeen[signal] = at;
  }
  return seenTimes;
};

type Times = LicenseKeyUse['firstSeen'];
const signalEntries = (times: Times = {}) => Object.entries(times) as [keyof Times, string][];
