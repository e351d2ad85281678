/** `oiq processor-state`: lists the saved state of processors and schedules, and removes a damaged one. */

import type { ControlRequest } from './control-request.ts';
import { runOnInstance } from './instance.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq processor-state list         list saved states: key, when, bytes
oiq processor-state remove KEY   remove a damaged state: its processor continues without a restart, with an empty
                                 state or one rebuilt from messages that are still retained
`;

const parseRequest = ([action, key, ...rest]: readonly string[]): ControlRequest | undefined => {
  if (action === undefined || action === '--help' || action === '-h') return undefined;
  if (action === 'list' && key === undefined) return { action: 'list-processor-states' };
  if (action === 'remove' && key !== undefined && rest.length === 0) return { action: 'remove-processor-state', key };
  throw new UsageError(`unknown action\n\n${help}`);
};

export const processorStateCommand = async (context: CommandContext): Promise<void> => {
  const request = parseRequest(context.args);
  if (request === undefined) {
    process.stdout.write(help);
    return;
  }
  await runOnInstance(context, request);
};
