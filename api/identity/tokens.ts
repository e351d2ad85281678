import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents, Feed, StoredMetadata } from '../../schemas/ports/documents.ts';
import { type SigningKey, signingKeys, signingKeysTenant } from '../../schemas/resources/signing-key.ts';

/** The content of a session token: ids only. Permissions are looked up on use. */
export interface Claims {
  readonly userId: string;
  readonly tenantId: string;
  readonly sessionId: string;
  readonly expiresAtMs: number;
}

/** Session tokens: JWTs signed with EdDSA by rotating keys that all instances share. */
export interface Tokens {
  issue(claims: Omit<Claims, 'expiresAtMs'>): Promise<{ token: string; expiresAt: Date }>;
  /** Returns the claims of a valid token of this installation, otherwise `undefined`. */
  verify(token: string): Promise<Claims | undefined>;
  /** Returns the public keys for external verification. */
  listPublicKeys(): readonly JWK[];
  /** Creates a new key when the newest is old enough, and deletes keys whose last token expired long ago. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

export const tokenLifetimeMs = 15 * 60_000;
const rotateAfterMs = 30 * 86_400_000;
/** A new key is used for signing only after every instance has had time to load it. */
const keyLoadMs = 10_000;
const maxCachedTokens = 10_000;
const issuer = 'oiq';
const audience = 'oiq-management';
const tokenType = 'at+jwt';
const keyPurpose = 'session signing key';

type Key = Awaited<ReturnType<typeof importJWK>>;
interface SigningKeyPair {
  readonly kid: string;
  readonly createdAtMs: number;
  readonly document: SigningKey;
  publicKey: Key | undefined;
  privateKey: Key | undefined;
}

/** Loads the keys, and creates the first one. */
export const createTokens = async (documents: Documents, box: SecretBox, clock: Clock): Promise<Tokens> => {
  const pairs = new Map<string, SigningKeyPair>();
  const keyCollection = documents.forTenant(signingKeysTenant).collection(signingKeys);
  const addPair = (document: SigningKey & StoredMetadata): void => {
    if (pairs.has(document.id)) return;
    const createdAtMs = Date.parse(document.createdAt);
    pairs.set(document.id, { kid: document.id, createdAtMs, document, publicKey: undefined, privateKey: undefined });
  };
  const cachedClaims = new Map<string, Claims>();
  const feed: Feed = await documents.follow(signingKeys, ({ id, document }) => {
    if (document !== undefined) return addPair(document);
    pairs.delete(id);
    cachedClaims.clear();
  });

  const loadPrivateKey = async (pair: SigningKeyPair): Promise<Key | undefined> => {
    const text = pair.privateKey ? undefined : box.open(keyPurpose, pair.document.privateKey);
    if (text !== undefined) pair.privateKey = await importJWK(JSON.parse(text) as JWK, 'EdDSA');
    return pair.privateKey;
  };

  const createPair = async (): Promise<SigningKeyPair> => {
    const keyPair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
    const document = await keyCollection.insert({
      id: randomUUID(),
      publicKey: { ...(await exportJWK(keyPair.publicKey)) },
      privateKey: box.seal(keyPurpose, JSON.stringify(await exportJWK(keyPair.privateKey))),
    });
    addPair(document);
    return pairs.get(document.id) as SigningKeyPair;
  };

  /** Returns the newest key that all instances have loaded and that the secret key of this installation can decrypt. */
  const findSigningKey = async (): Promise<{ kid: string; key: Key }> => {
    const newestFirst = [...pairs.values()].sort((left, right) => right.createdAtMs - left.createdAtMs);
    const loadedEverywhere = newestFirst.filter(({ createdAtMs }) => createdAtMs + keyLoadMs <= clock.now());
    for (const pair of [...loadedEverywhere, ...newestFirst]) {
      const key = await loadPrivateKey(pair);
      if (key !== undefined) return { kid: pair.kid, key };
    }
    const pair = await createPair();
    return { kid: pair.kid, key: (await loadPrivateKey(pair)) as Key };
  };
  await findSigningKey();

  const loadPublicKey = async (kid: string | undefined): Promise<Key> => {
    const pair = pairs.get(kid ?? '');
    if (pair === undefined) throw new Error('the token was signed by a key of another installation');
    pair.publicKey ??= await importJWK(pair.document.publicKey as JWK, 'EdDSA');
    return pair.publicKey;
  };

  return {
    async issue({ userId, tenantId, sessionId }) {
      const { kid, key } = await findSigningKey();
      const issuedAt = Math.floor(clock.now() / 1000);
      const expiresAt = issuedAt + tokenLifetimeMs / 1000;
      const token = await new SignJWT({ tid: tenantId, sid: sessionId })
        .setProtectedHeader({ alg: 'EdDSA', kid, typ: tokenType })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(userId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key);
      return { token, expiresAt: new Date(expiresAt * 1000) };
    },
    async verify(token) {
      const claimsFromCache = cachedClaims.get(token);
      if (claimsFromCache !== undefined) {
        if (claimsFromCache.expiresAtMs > clock.now()) return claimsFromCache;
        cachedClaims.delete(token);
        return undefined;
      }
      const claims = await verifyToken(token, loadPublicKey, clock);
      if (claims === undefined) return undefined;
      if (cachedClaims.size >= maxCachedTokens) cachedClaims.delete(cachedClaims.keys().next().value ?? '');
      cachedClaims.set(token, claims);
      return claims;
    },
    listPublicKeys: () =>
      [...pairs.values()].map(({ kid, document }) => ({ ...document.publicKey, kid, alg: 'EdDSA', use: 'sig' }) as JWK),
    async rotate() {
      const newestCreatedAtMs = Math.max(...[...pairs.values()].map(({ createdAtMs }) => createdAtMs));
      if (newestCreatedAtMs + rotateAfterMs <= clock.now()) await createPair();
      for (const { kid, createdAtMs } of [...pairs.values()])
        if (createdAtMs + 2 * rotateAfterMs <= clock.now() && pairs.size > 1) await keyCollection.delete(kid);
    },
    close: () => feed.close(),
  };
};

const verifyToken = async (
  token: string,
  getPublicKey: (kid: string | undefined) => Promise<Key>,
  clock: Clock,
): Promise<Claims | undefined> => {
  if (token.length > 4096) return undefined;
  try {
    const { payload } = await jwtVerify(token, ({ kid }) => getPublicKey(kid), {
      algorithms: ['EdDSA'],
      issuer,
      audience,
      typ: tokenType,
      currentDate: new Date(clock.now()),
      requiredClaims: ['exp', 'sub', 'tid', 'sid'],
    });
    const { sub, tid, sid, exp } = payload;
    if (typeof sub !== 'string' || typeof tid !== 'string' || typeof sid !== 'string') return undefined;
    return { userId: sub, tenantId: tid, sessionId: sid, expiresAtMs: (exp ?? 0) * 1000 };
  } catch {
    return undefined;
  }
};
