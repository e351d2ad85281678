import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../schemas/settings.ts';

/**
 * Encrypts values that must be decrypted later (AES-256-GCM). A text can be decrypted only for the purpose for which it
 * was encrypted.
 */
export interface SecretBox {
  seal(purpose: string, text: string): string;
  /** Decrypts a text. Returns `undefined` if the key or the purpose differs, or if the text was changed. */
  open(purpose: string, sealed: string): string | undefined;
  /** Returns 32 bytes derived from the text and the key. They cannot be computed without the key. */
  derive(purpose: string, text: string): Buffer;
}

/** The beginning of every encrypted text. */
const sealedPrefix = 'v1.';

/** Whether a text is in the form of an encrypted one. */
export const isSealed = (text: string): boolean => text.startsWith(sealedPrefix);

export const createSecretBox = (secretKey: string): SecretBox => {
  const deriveKey = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secretKey, 'oiq', purpose, 32));
  return {
    derive: (purpose, text) => createHmac('sha256', deriveKey(purpose)).update(text).digest(),
    seal(purpose, text) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', deriveKey(purpose), nonce);
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${sealedPrefix}${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
    },
    open(purpose, sealed) {
      if (!isSealed(sealed)) return undefined;
      const bytes = Buffer.from(sealed.slice(sealedPrefix.length), 'base64url');
      if (bytes.length < 28) return undefined;
      try {
        const decipher = createDecipheriv('aes-256-gcm', deriveKey(purpose), bytes.subarray(0, 12), {
          authTagLength: 16,
        });
        decipher.setAuthTag(bytes.subarray(12, 28));
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
};

/** Path of the generated secret key, without `OIQ_SECRET_KEY`. */
export const getSecretKeyPath = ({ DATA_DIR: directory }: Pick<Settings, 'DATA_DIR'>): string =>
  join(directory, 'secret-key');

/**
 * Returns the installation's secret key: the setting, or else a generated key in the data directory, which only its
 * owner can read.
 */
export const loadSecretKey = async (settings: Pick<Settings, 'SECRET_KEY' | 'DATA_DIR'>): Promise<string> => {
  if (settings.SECRET_KEY !== undefined) return settings.SECRET_KEY;
  await mkdir(settings.DATA_DIR, { recursive: true });
  const path = getSecretKeyPath(settings);
  try {
    await writeFile(path, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = await readFile(path, 'utf8');
  if (key.length < 32)
    throw new Error(
      `${path} is damaged. Restore it from a backup. Without one, remove it and start with OIQ_NEW_INSTALLATION=true: a new secret key is created, and stored secrets are lost`,
    );
  return key;
};
