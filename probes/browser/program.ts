/** Finds the Chromium executable of a probe */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Headless first: it is the same browser, and a run in it needs half the CPU time. */
const executableNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

// biome-ignore lint/style/noProcessEnv: the machine determines where programs are; it is not a setting
const folders = (process.env['PATH'] ?? '').split(delimiter);

/** Returns the configured program, otherwise the first one in the path; undefined if there is none. */
export const findChromium = (configuredPath: string | undefined): string | undefined =>
  configuredPath === undefined
    ? executableNames.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
    : [configuredPath].find(isExecutable);
