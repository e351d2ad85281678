import { keyFormat } from './key-format.ts';

/** License keys: `oiq_lk_…`. */
const licenseKeyFormat = keyFormat('oiq_lk_');

/** A new secret. Only its SHA-256 may be stored. */
export const makeLicenseKey = licenseKeyFormat.make;

/** Whether the text can be a license key at all. */
export const isWellFormed = licenseKeyFormat.isWellFormed;

/** The beginning of a key that may be shown to people. */
export const displayPrefix = licenseKeyFormat.displayPrefix;
