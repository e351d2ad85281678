/** `oiq dashboards`: manages the dashboards of an organization as files, through the API, for use in a pipeline. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import '../subjects/query-kinds.ts';
import { DashboardId, toYamlFile } from '../subjects/dashboards/as-code.ts';
import { requireToken, resolveApiAddress } from './api-request.ts';
import { parseArguments } from './command-arguments.ts';
import { DashboardsApi } from './dashboards/api.ts';
import { applySteps } from './dashboards/apply.ts';
import { createPlan, type Deployment, readDashboardFolder, type Step } from './dashboards/plan.ts';
import type { CommandContext } from './platform.ts';
import { UsageError } from './usage-error.ts';

const help = `oiq dashboards plan   DIR --source NAME [--prune] [--take] [--api URL]
oiq dashboards apply  DIR --source NAME [--prune] [--take] [--api URL]
oiq dashboards export DIR [--source NAME] [--folder PATH] [--api URL]

Manages dashboards as YAML or JSON files, one dashboard per file, with an id of your choice and without the fields that the server sets.
plan lists the differences, apply makes the changes. Applying twice changes nothing. export writes a file for each dashboard.
--source is the location of the files, such as git:shop/dashboards. Each dashboard shows it, and is changed by hand only with
force=true. The next plan shows changes made by hand. plan and apply list dashboards of the source that the folder no longer has.
--prune deletes these, unless something was refused. Other dashboards stay unchanged, except those without a source that a file names.
A file with the id of a dashboard of another source is refused. --take takes over the dashboard, for example after the source was renamed.
Changes that conflict with another user's change are refused, and the rest is applied. Hidden files are not read.

DASHBOARDS_TOKEN in the environment is an API token with the scopes dashboards:read and dashboards:write.
The exit status is 1 if something was refused, else 2 if a plan finds differences.
`;

const options = {
  api: { type: 'string' },
  source: { type: 'string' },
  folder: { type: 'string' },
  prune: { type: 'boolean' },
  take: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const maxCharacters = 200;
const formatValue = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
};

const printStep = (step: Step): void => {
  if (step.outcome === 'unchanged') return;
  const name = 'document' in step ? step.document.name : step.name;
  print(`${step.outcome.padEnd(9)} ${name} (${step.id})${'message' in step ? `: ${step.message}` : ''}`);
  if (step.outcome !== 'changed') return;
  for (const { path, what, before, after } of step.differences)
    print(`          ${what} (${path}): ${formatValue(before)} → ${formatValue(after)}`);
};

const deploy = async (verb: 'plan' | 'apply', directory: string, deployment: Deployment): Promise<void> => {
  const dashboardFolder = await readDashboardFolder(directory, deployment.source);
  if (dashboardFolder.dashboards.length + dashboardFolder.problems.length === 0)
    throw new Error(`${directory} contains no YAML or JSON files`);
  const plannedSteps = await createPlan(dashboardFolder, deployment);
  for (const line of dashboardFolder.problems) print(`refused   ${line}`);
  const steps: Step[] = [];
  for await (const step of verb === 'apply' ? applySteps(plannedSteps, deployment) : plannedSteps) {
    printStep(step);
    steps.push(step);
  }
  const count = (outcome: Step['outcome']): number => steps.filter((step) => step.outcome === outcome).length;
  const conditionalPrefix = verb === 'plan' ? 'would be ' : '';
  const [created, changed, deleted] = [count('created'), count('changed'), count('deleted')];
  const rejected = dashboardFolder.problems.length + count('refused');
  print(
    `${created} ${conditionalPrefix}created, ${changed} ${conditionalPrefix}changed, ${deleted} ${conditionalPrefix}deleted, ${count('absent')} absent, ${count('unchanged')} unchanged, ${rejected} refused`,
  );
  if (rejected > 0) process.exitCode = 1;
  else if (verb === 'plan' && created + changed + deleted > 0) process.exitCode = 2;
};

const exportDashboards = async (
  directory: string,
  api: DashboardsApi,
  parameters: Parameters<DashboardsApi['list']>[0],
) => {
  await mkdir(directory, { recursive: true });
  const summaries = await api.list(parameters);
  let writtenCount = 0;
  for (const { id, name } of summaries) {
    if (!DashboardId.safeParse(id).success) {
      print(`skipped   ${name} (${id}): its id cannot be the name of a file`);
      continue;
    }
    const dashboard = await api.find(id);
    if (dashboard === undefined) continue;
    await writeFile(join(directory, `${id}.yaml`), toYamlFile(id, dashboard.document, dashboard.source ?? undefined));
    writtenCount++;
  }
  print(`${writtenCount} of ${summaries.length} dashboards written to ${directory}`);
};

export const dashboardsCommand = async ({ args, environment }: CommandContext): Promise<void> => {
  const { values, positionals } = parseArguments(args, options, help);
  if (values.help === true) return void process.stdout.write(help);
  const [verb, directory, ...more] = positionals;
  if ((verb !== 'plan' && verb !== 'apply' && verb !== 'export') || directory === undefined || more.length > 0)
    throw new UsageError(`specify plan, apply or export, and one folder\n\n${help}`);
  const token = requireToken(environment, 'DASHBOARDS_TOKEN', help);
  const api = new DashboardsApi(resolveApiAddress(values.api, environment), token);
  const { source, folder, prune = false, take = false } = values;
  if (verb === 'export') return exportDashboards(directory, api, { source, folder });
  if (source === undefined || source === '') throw new UsageError(`--source is missing\n\n${help}`);
  if (folder !== undefined) throw new UsageError(`--folder is for export\n\n${help}`);
  await deploy(verb, directory, { api, source, shouldPrune: prune, shouldTakeOver: take });
};
