/** `oiq dead-letter`: through a running instance's control socket, or directly on the stores if no instance runs. */
import { systemClock } from '../schemas/ports/clock.ts';
import { parseArguments } from './command-arguments.ts';
import type { ReplaysRequest } from './control-request.ts';
import { type DeadLetterRequest, validateDeadLetterRequest } from './dead-letter-request.ts';
import { runOnInstance } from './instance.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq dead-letter list     [filters] [--limit N]
oiq dead-letter show ID
oiq dead-letter replay   [ID …] [filters] [--dry-run]
oiq dead-letter discard  [ID …] [filters] [--dry-run]
oiq dead-letter replays  [--tenant ID] [--limit N]   replays requested through the API, newest first

filters: --tenant ID  --signal logs|metrics|traces  --reason WORD  --from TIME  --to TIME
         --state open|replayed|discarded   (list only; default open)
TIME is ISO-8601, now-15m, or epoch milliseconds. replay and discard need an ID, a filter, or --all.
`;

const options = {
  tenant: { type: 'string' },
  signal: { type: 'string' },
  reason: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  state: { type: 'string' },
  limit: { type: 'string' },
  'dry-run': { type: 'boolean' },
  all: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const deadLetterCommand = async (context: CommandContext): Promise<void> => {
  const request = parseRequest(context.args);
  if (request === undefined) {
    process.stdout.write(help);
    return;
  }
  await runOnInstance(context, request);
};

const parseRequest = (args: readonly string[]): DeadLetterRequest | ReplaysRequest | undefined => {
  const { values, positionals } = parseArguments(args, options, help);
  const [action, ...ids] = positionals;
  if (values.help === true || action === undefined) return undefined;
  if (action === 'replays') return createReplaysRequest(values, ids);
  if (action !== 'list' && action !== 'show' && action !== 'replay' && action !== 'discard')
    throw new UsageError(`unknown action: ${action}\n\n${help}`);
  const { tenant, signal, reason, from, to, state } = values;
  const hasFilter = [tenant, signal, reason, from, to].some((value) => value !== undefined);
  if (action === 'show' && ids.length !== 1) throw new UsageError(`show requires exactly one id\n\n${help}`);
  if ((action === 'replay' || action === 'discard') && ids.length === 0 && !hasFilter && values.all !== true) {
    throw new UsageError(`${action} needs ids, a filter, or --all\n\n${help}`);
  }
  const request: DeadLetterRequest = {
    action,
    ids,
    filter: { tenant, signal, reason, from, to, state },
    limit: parseLimit(values.limit),
    dryRun: values['dry-run'] === true,
  };
  validateDeadLetterRequest(request, systemClock);
  return request;
};

const parseLimit = (text: string | undefined): number => {
  const limit = text === undefined ? 100 : Number(text);
  if (!Number.isSafeInteger(limit) || limit < 1) throw new UsageError('--limit must be at least 1');
  return limit;
};

const createReplaysRequest = (
  { tenant, limit, ...otherOptions }: { readonly tenant?: string; readonly limit?: string },
  ids: readonly string[],
): ReplaysRequest => {
  if (ids.length > 0 || Object.values(otherOptions).some((value) => value !== undefined))
    throw new UsageError(`replays accepts only --tenant and --limit\n\n${help}`);
  return { action: 'list-replays', tenant, limit: parseLimit(limit) };
};
