/**
 * How secrets that people carry about are spelled: a prefix that says what they are, 30 random base62 characters (178.6
 * bits) and six of their CRC-32. The checksum tells a typing mistake or another product's token from one of ours without looking
 * anything up.
 */
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 30;
const checksumLength = 6;
const shownLength = 6;

export interface KeyFormat {
  /** What each begins with. */
  readonly prefix: string;
  /** A new secret. Only its SHA-256 may be stored. */
  make(): string;
  /** Whether the text can be such a secret at all. */
  isWellFormed(text: string): boolean;
  /** The beginning of a secret, which may be shown to people. */
  displayPrefix(secret: string): string;
}

/** Base62 of the CRC-32 of all that stands before it, padded with zeros. */
const checksumOf = (text: string): string => {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < checksumLength; index++) {
    digits = alphabet.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};

export const keyFormat = (prefix: string): KeyFormat => {
  const length = prefix.length + randomLength + checksumLength;
  const form = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);
  return {
    prefix,
    make() {
      let secret = prefix;
      for (let index = 0; index < randomLength; index++) secret += alphabet.charAt(randomInt(alphabet.length));
      return secret + checksumOf(secret);
    },
    isWellFormed: (text) =>
      text.length === length &&
      form.test(text) &&
      checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength),
    displayPrefix: (secret) => secret.slice(0, prefix.length + shownLength),
  };
};
