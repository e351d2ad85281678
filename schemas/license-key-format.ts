import { createKeyFormat } from './key-format.ts';

/** License keys: `oiq_lk_…`. */
const licenseKeyFormat = createKeyFormat('oiq_lk_');

/** Creates a secret. Only its SHA-256 may be stored. */
export const generateLicenseKey = licenseKeyFormat.generate;

/** Returns whether the text has the format of a license key. */
export const isWellFormedLicenseKey = licenseKeyFormat.isWellFormed;

/** Returns the beginning of a key, which may be displayed. */
export const displayPrefix = licenseKeyFormat.displayPrefix;
