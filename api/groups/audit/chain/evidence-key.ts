import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { toCanonicalJson } from '../../../../runtime/canonical-json.ts';
import type { SecretBox } from '../../../../runtime/secret-box.ts';
import type { EvidenceHead } from '../../../../schemas/evidence.ts';
import type { EvidenceKey, PublicEvidenceKey } from '../../../../schemas/ports/evidence.ts';

/** An Ed25519 private key in PKCS #8 consists of these bytes and the 32 bytes of the key. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Part of the signed text, so that a signature is valid for this purpose only. */
const headPurpose = 'oiq evidence head 1';

const encodeHead = ({ tenantId, size, root, lastHash, signedAt, keyId }: Omit<EvidenceHead, 'signature'>): Buffer =>
  Buffer.from(toCanonicalJson({ purpose: headPurpose, tenantId, size, root, lastHash, signedAt, keyId }));

const erasurePurpose = 'oiq audit erasure 1';

const encodeErasure = (tenantId: string, recordHash: string): Buffer =>
  Buffer.from(toCanonicalJson({ purpose: erasurePurpose, tenantId, hash: recordHash }));

const toPublicEvidenceKey = (key: KeyObject): PublicEvidenceKey => {
  const id = hash('sha256', key.export({ type: 'spki', format: 'der' })).slice(0, 16);
  return {
    id,
    publicKey: key.export({ type: 'spki', format: 'pem' }).toString(),
    isSignedBy: (head) =>
      head.keyId === id && verify(null, encodeHead(head), key, Buffer.from(head.signature, 'base64url')),
    isErasureSigned: (tenantId, { hash: recordHash, signature }) =>
      signature !== undefined &&
      verify(null, encodeErasure(tenantId, recordHash), key, Buffer.from(signature, 'base64url')),
  };
};

/** Parses the public key in a PEM text. Throws if the text is not a public key. */
export const parsePublicEvidenceKey = (pem: string): PublicEvidenceKey => {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the public key is not an Ed25519 key');
  return toPublicEvidenceKey(key);
};

export const deriveEvidenceKey = (box: SecretBox): EvidenceKey => {
  const der = Buffer.concat([pkcs8Prefix, box.derive('evidence heads', 'signing key')]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const verificationKey = toPublicEvidenceKey(createPublicKey(privateKey));
  return {
    ...verificationKey,
    sign(unsignedHead) {
      const head = { ...unsignedHead, keyId: verificationKey.id };
      return { ...head, signature: sign(null, encodeHead(head), privateKey).toString('base64url') };
    },
    signErasure: (tenantId, recordHash) =>
      sign(null, encodeErasure(tenantId, recordHash), privateKey).toString('base64url'),
  };
};
