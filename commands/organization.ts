/** `oiq organization`: operations on an organization that only the operator of an installation may perform. */

import type { ControlRequest } from './control-request.ts';
import { runOnInstance } from './instance.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq organization list         list organizations: plan, state, shards, name
oiq organization reopen ID    reopen a closed organization, within 30 days
oiq organization shards ID N  spread the organization over N partitions of each topic (1 to 64)
`;

const parseRequest = ([action, id, ...rest]: readonly string[]): ControlRequest | undefined => {
  if (action === undefined || action === '--help' || action === '-h') return undefined;
  if (action === 'list' && id === undefined) return { action: 'list-organizations' };
  if (action === 'reopen' && id !== undefined && rest.length === 0) return { action: 'reopen-organization', id };
  if (action === 'shards' && id !== undefined && rest.length === 1 && /^\d+$/.test(rest[0] ?? ''))
    return { action: 'shard-organization', id, shards: Number(rest[0]) };
  throw new UsageError(`unknown action\n\n${help}`);
};

export const organizationCommand = async (context: CommandContext): Promise<void> => {
  const request = parseRequest(context.args);
  if (request === undefined) {
    process.stdout.write(help);
    return;
  }
  await runOnInstance(context, request);
};
