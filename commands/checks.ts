/** `oiq checks`: manages the synthetic checks of an organization as files, through the API, for use in a pipeline. */
import { z } from 'zod';
import { findFieldLine, readCheckFiles } from '../subjects/synthetics/as-code.ts';
import { readAcceptedJson, requireToken, resolveApiAddress, sendRequest } from './api-request.ts';
import { parseArguments } from './command-arguments.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';
import { readFolder, type YamlFile } from './yaml-files.ts';

const help = `oiq checks plan  DIR [--label NAME=VALUE [--prune]] [--take] [--api URL]
oiq checks apply DIR [the same]

Manages synthetic checks as code: the YAML and JSON files of a folder and its subfolders. A YAML file contains one or more documents, one check each, as
GET /api/synthetics/export writes them; a JSON file is a check or a recording of Chrome's Recorder. Other files of the folder are reported.
plan shows the differences, apply applies them. Checks are identified by name; a second apply changes nothing. A check that was made
by hand is not changed by a file with its name, unless --take takes it over. Secrets are
variables, {{variables.NAME}}, and are not stored in files.
--label is the label of all checks of the folder, such as team=shop: checks with this label that no file defines are reported. With --prune
they are deleted, unless a document was refused. Checks without the label do not change.

CHECKS_TOKEN in the environment is an API token with the scopes synthetics:read and synthetics:write.
The exit status is 1 if a document was refused, else 2 if a plan finds differences.
`;

const options = {
  api: { type: 'string' },
  label: { type: 'string' },
  prune: { type: 'boolean' },
  take: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const timeoutMs = 60_000;

const outcomes = ['created', 'changed', 'unchanged', 'refused', 'deleted', 'absent', 'ignored'] as const;

/** Result for a check, or for an invalid file. */
interface Item {
  readonly outcome: (typeof outcomes)[number];
  readonly name: string;
  /** Why it is rejected: `file:line: field: problem`; or why it is ignored. */
  readonly reasons: readonly string[];
}

interface Label {
  readonly name: string;
  readonly value: string;
}

/** A file of checks, with properties that the API does not check. */
interface CheckFile extends YamlFile {
  readonly names: readonly string[];
  readonly isEmpty: boolean;
  readonly rejectedItems: readonly Item[];
}

const ImportResponse = z.looseObject({
  items: z.array(
    z.looseObject({
      name: z.string().nullable(),
      outcome: z.enum(['created', 'changed', 'unchanged', 'refused']),
      problems: z.array(z.looseObject({ path: z.string(), line: z.number(), message: z.string() })),
    }),
  ),
});
const Page = z.looseObject({
  items: z.array(z.looseObject({ id: z.string(), name: z.string(), labels: z.record(z.string(), z.string()) })),
  nextCursor: z.string().nullable(),
});

type SendRequest = (method: string, path: string, body?: object) => Promise<unknown>;

const createSender =
  (base: string, token: string): SendRequest =>
  async (method, path, body) => {
    const url = new URL(path, base);
    return readAcceptedJson(await sendRequest(url, { token, timeoutMs, method, body }), `${method} ${url}`);
  };

/** Duplicate names would overwrite each other; a check without the label would never be pruned. */
const collectChecks = (files: readonly YamlFile[], label: Label | undefined): readonly CheckFile[] => {
  const locationByName = new Map<string, string>();
  return files.map(({ path, source }) => {
    const rejectedItems: Item[] = [];
    const documents = readCheckFiles(source);
    for (const file of documents) {
      const { name, line, check } = file;
      if (name === null) continue;
      const previousLocation = locationByName.get(name);
      if (previousLocation !== undefined)
        rejectedItems.push({
          outcome: 'refused',
          name,
          reasons: [`${path}:${line}: name: is already the name of a check in ${previousLocation}`],
        });
      locationByName.set(name, `${path}:${line}`);
      if (check === undefined || label === undefined || check.labels[label.name] === label.value) continue;
      const reason = `${path}:${findFieldLine(file, 'labels')}: labels: must have ${label.name}=${label.value}`;
      rejectedItems.push({ outcome: 'refused', name, reasons: [reason] });
    }
    const names = documents.flatMap(({ name }) => name ?? []);
    return { path, source, names, isEmpty: documents.length === 0, rejectedItems };
  });
};

const createIgnoredItem = (path: string, reason: string): Item => ({
  outcome: 'ignored',
  name: path,
  reasons: [reason],
});

const importFile = async (
  { path, source, isEmpty, rejectedItems }: CheckFile,
  sendRequest: SendRequest,
  { dryRun, takeOver }: { readonly dryRun: boolean; readonly takeOver: boolean },
): Promise<readonly Item[]> => {
  if (isEmpty) return [createIgnoredItem(path, 'has no document')];
  // If a document is rejected here, the API still checks the others, and nothing is written.
  const isDryRun = dryRun || rejectedItems.length > 0;
  const { items } = ImportResponse.parse(
    await sendRequest('POST', '/api/synthetics/import', { source, dryRun: isDryRun, takeOver }),
  );
  const results = items.map(
    ({ name, outcome, problems }): Item => ({
      outcome,
      name: name ?? '(no name)',
      reasons: problems.map(
        (problem) => `${path}:${problem.line}: ${problem.path === '' ? '' : `${problem.path}: `}${problem.message}`,
      ),
    }),
  );
  return rejectedItems.length === 0
    ? results
    : [...results.filter(({ outcome }) => outcome === 'refused'), ...rejectedItems];
};

/** Checks with the label that are in no file. */
const listChecksToPrune = async (sendRequest: SendRequest, label: Label, names: ReadonlySet<string>) => {
  const checks: { readonly id: string; readonly name: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ limit: '500', ...(cursor !== '' && { cursor }) });
    const page: z.output<typeof Page> = Page.parse(await sendRequest('GET', `/api/synthetics/checks?${query}`));
    checks.push(...page.items.filter(({ name, labels }) => labels[label.name] === label.value && !names.has(name)));
    cursor = page.nextCursor;
  }
  return checks;
};

const printReport = (verb: 'plan' | 'apply', items: readonly Item[]): void => {
  for (const { outcome, name, reasons } of items) {
    if (outcome === 'unchanged') continue;
    process.stdout.write(`${outcome.padEnd(9)} ${name}\n${reasons.map((reason) => `          ${reason}\n`).join('')}`);
  }
  const count = (outcome: Item['outcome']): number => items.filter((item) => item.outcome === outcome).length;
  const conditionalPrefix = verb === 'plan' ? 'would be ' : '';
  const isDone = (outcome: Item['outcome']): boolean => ['created', 'changed', 'deleted'].includes(outcome);
  const counts = outcomes.map((outcome) => `${count(outcome)} ${isDone(outcome) ? conditionalPrefix : ''}${outcome}`);
  process.stdout.write(`${counts.join(', ')}\n`);
  if (count('refused') > 0) process.exitCode = 1;
  else if (verb === 'plan' && items.some(({ outcome }) => isDone(outcome))) process.exitCode = 2;
};

const parseLabel = (text: string | undefined): Label | undefined => {
  if (text === undefined) return undefined;
  const [name = '', ...value] = text.split('=');
  if (name === '' || value.length === 0) throw new UsageError(`--label must be NAME=VALUE\n\n${help}`);
  return { name, value: value.join('=') };
};

/** Returns the result for every check; applies the changes unless it is a dry run. */
const deploy = async (
  files: readonly CheckFile[],
  {
    sendRequest,
    label,
    isPlan,
    shouldPrune,
    shouldTakeOver,
  }: {
    sendRequest: SendRequest;
    label: Label | undefined;
    isPlan: boolean;
    shouldPrune: boolean;
    shouldTakeOver: boolean;
  },
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  for (const file of files)
    items.push(...(await importFile(file, sendRequest, { dryRun: isPlan, takeOver: shouldTakeOver })));
  if (label === undefined) return items;
  const canPrune = shouldPrune && items.every(({ outcome }) => outcome !== 'refused');
  const names = new Set(files.flatMap((file) => file.names));
  for (const { id, name } of await listChecksToPrune(sendRequest, label, names)) {
    if (canPrune && !isPlan) await sendRequest('DELETE', `/api/synthetics/checks/${encodeURIComponent(id)}`);
    items.push({ outcome: canPrune ? 'deleted' : 'absent', name, reasons: [] });
  }
  return items;
};

export const checksCommand = async ({ args, environment }: CommandContext): Promise<void> => {
  const { values, positionals } = parseArguments(args, options, help);
  if (values.help === true) return void process.stdout.write(help);
  const [verb, folder, ...more] = positionals;
  if ((verb !== 'plan' && verb !== 'apply') || folder === undefined || more.length > 0)
    throw new UsageError(`specify plan or apply, and one folder\n\n${help}`);
  const { prune: shouldPrune = false, take: shouldTakeOver = false, api } = values;
  const label = parseLabel(values.label);
  if (shouldPrune && label === undefined)
    throw new UsageError(`--prune needs --label: only checks with that label are deleted\n\n${help}`);
  const sendRequest = createSender(
    resolveApiAddress(api, environment),
    requireToken(environment, 'CHECKS_TOKEN', help),
  );
  const { files, otherPaths } = await readFolder(folder, { includesJson: true });
  const items = await deploy(collectChecks(files, label), {
    sendRequest,
    label,
    isPlan: verb === 'plan',
    shouldPrune,
    shouldTakeOver,
  });
  printReport(verb, [...items, ...otherPaths.map((path) => createIgnoredItem(path, 'is not a YAML or JSON file'))]);
};
