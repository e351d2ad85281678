/**
 * Format of secrets that users handle: a prefix for the kind, 30 random base62 characters (178.6 bits) and six
 * characters of their CRC-32. The checksum detects typing errors and tokens of other products without a lookup.
 */
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 30;
const checksumLength = 6;
const displayedRandomLength = 6;

export interface KeyFormat {
  /** Prefix of all secrets of this kind. */
  readonly prefix: string;
  /** Creates a secret. Only its SHA-256 may be stored. */
  generate(): string;
  /** Returns whether the text has the format of this secret. */
  isWellFormed(text: string): boolean;
  /** Returns the beginning of a secret, which may be displayed. */
  displayPrefix(secret: string): string;
}

/** Base62 of the CRC-32 of all preceding characters, padded with zeros. */
const computeChecksum = (text: string): string => {
  let remaining = crc32(text);
  let digits = '';
  for (let index = 0; index < checksumLength; index++) {
    digits = alphabet.charAt(remaining % 62) + digits;
    remaining = Math.floor(remaining / 62);
  }
  return digits;
};

export const createKeyFormat = (prefix: string): KeyFormat => {
  const length = prefix.length + randomLength + checksumLength;
  const pattern = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);
  return {
    prefix,
    generate() {
      let secret = prefix;
      for (let index = 0; index < randomLength; index++) secret += alphabet.charAt(randomInt(alphabet.length));
      return secret + computeChecksum(secret);
    },
    isWellFormed: (text) =>
      text.length === length &&
      pattern.test(text) &&
      computeChecksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength),
    displayPrefix: (secret) => secret.slice(0, prefix.length + displayedRandomLength),
  };
};
