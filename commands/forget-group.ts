/** `oiq forget-group`: allows the bus to continue without a consumer group that will not run again. */

import { runOnInstance } from './instance.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq forget-group NAME   delete the offsets of a consumer group that no longer runs, so that the bus
                        does not retain expired data for it
`;

export const forgetGroupCommand = async (context: CommandContext): Promise<void> => {
  const [group, ...rest] = context.args;
  if (group === undefined || group === '--help' || group === '-h') {
    process.stdout.write(help);
    return;
  }
  if (rest.length > 0) throw new UsageError(`forget-group requires exactly one group\n\n${help}`);
  await runOnInstance(context, { action: 'forget-group', group });
};
