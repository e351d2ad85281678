/** Names keys of this platform that were found in telemetry, and how to revoke them. */
import { z } from 'zod';
import type { CollectionDefinition, Filter, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { licenseKeys } from '../../../schemas/resources/license-key.ts';
import { apiTokens } from '../../../schemas/resources/service-account.ts';
import { syntheticHeartbeatTokens } from '../../../schemas/resources/synthetic-heartbeat-token.ts';
import type { StoredSecret } from '../../../subjects/secrets/stored-findings.ts';

export const OwnKey = z.strictObject({
  kind: z.enum(['license-key', 'api-token', 'heartbeat-token']),
  id: z.string().nullable().describe('null if the organization has no such key'),
  name: z.string(),
  isActive: z.boolean().describe('Whether the key still works'),
  revokeWith: z.string().describe('How to revoke it'),
});
export type OwnKey = z.output<typeof OwnKey>;

export type OwnKeyReader = (secret: Pick<StoredSecret, 'found_rule' | 'found_key_hash'>) => OwnKey | null;

type KnownKey = Omit<OwnKey, 'kind' | 'id'> & { readonly id: string; readonly hashes: readonly string[] };

const isValidUntil = (time: string | null | undefined, nowMs: number): boolean => !time || Date.parse(time) > nowMs;

/** Returns the keys of a rule with one of the hashes. */
type FindKeys = (documents: TenantDocuments, hashes: readonly string[], nowMs: number) => Promise<KnownKey[]>;

const maxKeys = 1_000;

const listDocuments = async <Fields extends object>(
  documents: TenantDocuments,
  collection: CollectionDefinition<Fields>,
  filter: Filter,
) => (await documents.collection(collection).list({ filter, limit: maxKeys })).items;

const findLicenseKeys: FindKeys = async (documents, hashes, nowMs) => {
  const filter = { $or: [{ hash: { $in: hashes } }, { 'previous.hash': { $in: hashes } }] };
  return (await listDocuments(documents, licenseKeys, filter)).flatMap((key) => {
    const isUsable = !key.revokedAt && isValidUntil(key.expiresAt, nowMs);
    const revokeWith = `DELETE /api/license-keys/${key.id}, or rotate the key`;
    const named = { id: key.id, name: key.name, revokeWith };
    return [
      { ...named, hashes: [key.hash], isActive: isUsable },
      ...(key.previous ?? []).map(({ hash, validUntil }) => ({
        ...named,
        hashes: [hash],
        isActive: isUsable && isValidUntil(validUntil, nowMs),
      })),
    ];
  });
};

const findApiTokens: FindKeys = async (documents, hashes, nowMs) =>
  (await listDocuments(documents, apiTokens, { hash: { $in: hashes } })).map((token) => ({
    id: token.id,
    name: token.name,
    hashes: [token.hash],
    isActive: isValidUntil(token.expiresAt, nowMs),
    revokeWith: `DELETE /api/service-accounts/${token.serviceAccountId}/tokens/${token.id}`,
  }));

const findHeartbeatTokens: FindKeys = async (documents, hashes) =>
  (await listDocuments(documents, syntheticHeartbeatTokens, { hash: { $in: hashes } })).map((token) => ({
    id: token.id,
    name: 'token of a heartbeat check',
    hashes: [token.hash],
    isActive: true,
    revokeWith: 'renew the token of the heartbeat check',
  }));

const finders: Readonly<Record<string, { readonly kind: OwnKey['kind']; readonly findKeys: FindKeys }>> = {
  'oiq-license-key': { kind: 'license-key', findKeys: findLicenseKeys },
  'oiq-api-token': { kind: 'api-token', findKeys: findApiTokens },
  'oiq-heartbeat-token': { kind: 'heartbeat-token', findKeys: findHeartbeatTokens },
};

/** Reads the documents of the keys of this platform among secrets. */
export const readOwnKeys = async (
  documents: TenantDocuments,
  secrets: readonly StoredSecret[],
  nowMs: number,
): Promise<OwnKeyReader> => {
  const keysByHash = new Map<string, KnownKey>();
  for (const [rule, { findKeys }] of Object.entries(finders)) {
    const hashes = secrets
      .filter((secret) => secret.found_rule === rule && secret.found_key_hash !== '')
      .map((secret) => secret.found_key_hash);
    if (hashes.length === 0) continue;
    for (const key of await findKeys(documents, [...new Set(hashes)].slice(0, maxKeys), nowMs))
      for (const hash of key.hashes) keysByHash.set(hash, key);
  }
  return ({ found_rule: rule, found_key_hash: hash }) => {
    const finder = finders[rule];
    if (finder === undefined || hash === '') return null;
    const key = keysByHash.get(hash);
    if (key === undefined)
      return { kind: finder.kind, id: null, name: '', isActive: false, revokeWith: 'the organization has no such key' };
    const { id, name, isActive, revokeWith } = key;
    return { kind: finder.kind, id, name, isActive, revokeWith };
  };
};
