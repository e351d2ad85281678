/**
 * How a license key is spelled: `oiq_lk_`, 30 random base62 characters (178.6 bits) and six of their CRC-32. The
 * checksum tells a typing mistake or another product's token from a key without looking anything up.
 */
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'oiq_lk_';
const randomLength = 30;
const checksumLength = 6;
const keyLength = prefix.length + randomLength + checksumLength;
const form = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

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

/** A new secret. Only its SHA-256 may be stored. */
export const makeLicenseKey = (): string => {
  let key = prefix;
  for (let index = 0; index < randomLength; index++) key += alphabet.charAt(randomInt(alphabet.length));
  return key + checksumOf(key);
};

/** Whether the text can be a license key at all. */
export const isWellFormed = (key: string): boolean =>
  key.length === keyLength &&
  form.test(key) &&
  checksumOf(key.slice(0, -checksumLength)) === key.slice(-checksumLength);

/** The beginning of a key that may be shown to people. */
export const displayPrefix = (key: string): string => key.slice(0, prefix.length + 6);
