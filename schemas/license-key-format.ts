import { createKeyFormat } from './key-format.ts';

/** License keys of servers: `oiq_lk_…`. */
const serverKeyFormat = createKeyFormat('oiq_lk_');
/** License keys of browsers: `oiq_pk_…`. Pages show them. */
const browserKeyFormat = createKeyFormat('oiq_pk_');

/** Creates a secret. Only its SHA-256 may be stored. */
export const generateLicenseKey = serverKeyFormat.generate;

/** Creates a key of a browser, which is public. */
export const generateBrowserKey = browserKeyFormat.generate;

/** Returns whether the text has the format of a license key of either kind. */
export const isWellFormedLicenseKey = (text: string): boolean =>
  serverKeyFormat.isWellFormed(text) || isWellFormedBrowserKey(text);

/** Returns whether the text has the format of a key of a browser. */
export const isWellFormedBrowserKey = browserKeyFormat.isWellFormed;

/** Returns the beginning of a key of either kind, which may be displayed. */
export const displayPrefix = serverKeyFormat.displayPrefix;
