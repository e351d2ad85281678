/** Runs checks in a real Chromium. */
import test from 'ava';
import { chromiumMissing, chromiumProgram } from '../../services/chromium.ts';
import { run, soon } from './targets.ts';

export const browserTest = chromiumMissing === undefined ? test.serial : test.skip;

export const runBrowser = async (
  steps: readonly object[],
  around: Parameters<typeof run>[1] = {},
  more: object = {},
): ReturnType<typeof run> =>
  run(
    { type: 'browser', every: '1m', timeout: soon(20_000), browser: { steps }, ...more },
    { chromium: { program: await chromiumProgram(), hasSandbox: false }, ...around },
  );

export const role = (name: string, of = 'button'): object => ({ by: 'role', role: of, name });
