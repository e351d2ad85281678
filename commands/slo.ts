/** `oiq slo gate`: reports to a pipeline whether the error-budget policy of an SLO allows a deployment. */
import { readAcceptedJson, requireToken, resolveApiAddress, sendRequest } from './api-request.ts';
import { parseArguments } from './command-arguments.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq slo gate ID… [--api URL]

Checks the error-budget policies of SLOs. The exit status is 0 if no policy freezes deployments, 3 if a policy does, and 1 if this cannot be determined. An SLO without a policy never freezes deployments, and neither does a policy step without data.

SLO_TOKEN in the environment is an API token with the scope slos:read.
`;

const options = { api: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
const requestTimeoutMs = 60_000;
/** Distinguishes a freeze from a failure. */
const frozenExitStatus = 3;

interface Step {
  readonly name: string;
  readonly freeze: boolean;
  readonly isMet: boolean | null;
}

interface Status {
  readonly budget: { readonly remainingPct: number | null };
  readonly policy: { readonly frozen: boolean; readonly steps: readonly Step[] } | null;
}

const fetchStatus = async (api: string, id: string, token: string): Promise<Status> => {
  const url = new URL(`/api/slos/${encodeURIComponent(id)}/status`, api);
  return (await readAcceptedJson(
    await sendRequest(url, { token, timeoutMs: requestTimeoutMs }),
    String(url),
  )) as Status;
};

const formatStatus = (id: string, { budget: { remainingPct }, policy }: Status): string => {
  const budgetText =
    remainingPct === null ? 'the remaining budget is unknown' : `${remainingPct} % of the budget is left`;
  const activeFreezes = (policy?.steps ?? []).filter(({ freeze, isMet: isActive }) => freeze && isActive === true);
  const reasonText = activeFreezes.length === 0 ? '' : ` (${activeFreezes.map(({ name }) => name).join(', ')})`;
  return `${policy?.frozen === true ? 'frozen' : 'open  '} ${id}: ${budgetText}${reasonText}\n`;
};

export const sloCommand = async ({ args, environment }: CommandContext): Promise<void> => {
  const { values, positionals } = parseArguments(args, options, help);
  if (values.help === true) return void process.stdout.write(help);
  const [verb, ...ids] = positionals;
  if (verb !== 'gate' || ids.length === 0) throw new UsageError(`specify gate, and the ids of SLOs\n\n${help}`);
  const token = requireToken(environment, 'SLO_TOKEN', help);
  const api = resolveApiAddress(values.api, environment);
  for (const id of ids) {
    const status = await fetchStatus(api, id, token);
    process.stdout.write(formatStatus(id, status));
    if (status.policy?.frozen === true) process.exitCode = frozenExitStatus;
  }
};
