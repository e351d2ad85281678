/** What a location cannot run, and why. Its probes tell it with each question for work. */
import type { Inability } from '../schemas/synthetic-work.ts';
import { chromiumProgram } from './browser/program.ts';
import type { ChromiumOptions } from './runner.ts';
import { pingProblem } from './runners/icmp.ts';

/** Types that are not among them can be run. */
export const inabilitiesOf = async ({ program }: ChromiumOptions): Promise<readonly Inability[]> => {
  const browser =
    chromiumProgram(program) === undefined
      ? `there is no Chromium${program === undefined ? '' : ` at ${program}`}`
      : undefined;
  return Object.entries({ browser, icmp: await pingProblem() }).flatMap(([type, reason]) =>
    reason === undefined ? [] : [{ type, reason: reason.slice(0, 1024) }],
  );
};
