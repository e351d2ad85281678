/** Check types that a location cannot run, with the reason. Its probes report them with each request for work. */
import type { UnsupportedType } from '../schemas/synthetic-work.ts';
import { findChromium } from './browser/program.ts';
import type { ChromiumOptions } from './runner.ts';
import { describePingProblem } from './runners/icmp.ts';

/** Returns the check types that this location cannot run; all others can be run. */
export const findUnsupportedTypes = async ({ program }: ChromiumOptions): Promise<readonly UnsupportedType[]> => {
  const browserProblem =
    findChromium(program) === undefined
      ? `Chromium was not found${program === undefined ? '' : ` at ${program}`}`
      : undefined;
  return Object.entries({ browser: browserProblem, icmp: await describePingProblem() }).flatMap(([type, reason]) =>
    reason === undefined ? [] : [{ type, reason: reason.slice(0, 1024) }],
  );
};
