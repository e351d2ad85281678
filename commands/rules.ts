/** `oiq rules`: deploys a folder of detection rules through the API, for use in a pipeline. */
import { readAcceptedJson, requireToken, resolveApiAddress, sendRequest } from './api-request.ts';
import { parseArguments } from './command-arguments.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';
import { readFolder } from './yaml-files.ts';

const help = `oiq rules plan  DIR [--api URL] [--min-level LEVEL] [--status STATUS,…] [--disabled] [--take] [--scope NAME [--prune]]
oiq rules apply DIR [the same]

Reads the Sigma documents in the YAML files of a folder and its subfolders, and deploys them. plan lists the changes, apply makes
them. Applying twice changes nothing. Settings of a rule made by a team (enabled, risk, exceptions, tests) stay.
--min-level, --status and --disabled select the new rules that are enabled.
--scope is a name for the folder: its rules are marked with it, and rules of the scope that are no longer in the folder are listed.
--prune deletes these, unless a document was refused. Rules without a scope, or of another scope, stay unchanged.
--take also changes rules of the same ids that were not imported before, such as those made by hand. Otherwise they are refused.

RULES_TOKEN in the environment is an API token with the scope siem:write. The exit status is 1 if a document was refused.
`;

const options = {
  api: { type: 'string' },
  'min-level': { type: 'string' },
  status: { type: 'string' },
  disabled: { type: 'boolean' },
  scope: { type: 'string' },
  prune: { type: 'boolean' },
  take: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Longer than the maximum time that the API needs */
const requestTimeoutMs = 310_000;

interface Item {
  readonly ruleId: string;
  readonly title: string;
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'refused' | 'deleted' | 'absent';
  readonly message: string;
}

const deploy = async (url: URL, token: string, files: readonly object[]): Promise<readonly Item[]> => {
  const responseBody = await readAcceptedJson(
    await sendRequest(url, { token, timeoutMs: requestTimeoutMs, method: 'POST', body: { files } }),
    String(url),
  );
  return (responseBody as { items: Item[] }).items;
};

const formatItem = ({ ruleId, title, outcome, message }: Item): string =>
  `${outcome.padEnd(9)} ${title === '' ? '(no title)' : title}${ruleId === '' ? '' : ` (${ruleId})`}${message === '' ? '' : `: ${message}`}\n`;

const buildImportUrl = (
  verb: string,
  { api, disabled, status, scope, prune, take, ...values }: OptionValues,
  environment: CommandContext['environment'],
): URL => {
  const url = new URL('/api/siem/rules/import', resolveApiAddress(api, environment));
  if (verb === 'plan') url.searchParams.set('dryRun', 'true');
  if (disabled === true) url.searchParams.set('enabled', 'false');
  if (status !== undefined) url.searchParams.set('status', status);
  if (take === true) url.searchParams.set('takeOver', 'true');
  if (scope !== undefined) url.searchParams.set('scope', scope);
  if (prune === true) url.searchParams.set('prune', 'true');
  const minLevel = values['min-level'];
  if (minLevel !== undefined) url.searchParams.set('minLevel', minLevel);
  return url;
};
type OptionValues = ReturnType<typeof parseArguments<typeof options>>['values'];

const printReport = (verb: string, items: readonly Item[]): void => {
  for (const item of items) if (item.outcome !== 'unchanged') process.stdout.write(formatItem(item));
  const count = (outcome: Item['outcome']): number => items.filter((item) => item.outcome === outcome).length;
  const conditionalPrefix = verb === 'plan' ? 'would be ' : '';
  const pruneCounts = (
    [
      ['deleted', `${conditionalPrefix}deleted`],
      ['absent', 'absent'],
    ] as const
  )
    .filter(([outcome]) => count(outcome) > 0)
    .map(([outcome, text]) => `, ${count(outcome)} ${text}`);
  process.stdout.write(
    `${count('created')} ${conditionalPrefix}created, ${count('changed')} ${conditionalPrefix}changed, ${count('unchanged')} unchanged, ${count('refused')} refused${pruneCounts.join('')}\n`,
  );
  if (count('refused') > 0) process.exitCode = 1;
};

export const rulesCommand = async ({ args, environment }: CommandContext): Promise<void> => {
  const { values, positionals } = parseArguments(args, options, help);
  if (values.help === true) return void process.stdout.write(help);
  const [verb, folder, ...more] = positionals;
  if ((verb !== 'plan' && verb !== 'apply') || folder === undefined || more.length > 0)
    throw new UsageError(`specify plan or apply, and one folder\n\n${help}`);
  if (values.prune === true && values.scope === undefined)
    throw new UsageError(`--prune needs --scope: only rules of that scope are deleted\n\n${help}`);
  const token = requireToken(environment, 'RULES_TOKEN', help);
  const files = (await readFolder(folder)).files.map(({ path, source }) => ({ name: path, source }));
  printReport(verb, await deploy(buildImportUrl(verb, values, environment), token, files));
};
