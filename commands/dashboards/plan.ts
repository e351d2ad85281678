/** The changes that a folder of dashboards as code would make. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type DashboardDifference, findDashboardDifferences } from '../../subjects/dashboards/difference.ts';
import type { DashboardFields } from '../../subjects/dashboards/document.ts';
import { parseFileWithLines } from '../../subjects/dashboards/file-lines.ts';
import { isHidden } from '../yaml-files.ts';
import type { DashboardsApi } from './api.ts';

/** A dashboard in a file. */
interface DashboardFile {
  readonly file: string;
  readonly id: string;
  readonly document: DashboardFields;
}

export interface Folder {
  readonly dashboards: readonly DashboardFile[];
  /** Problems of files, as readable text */
  readonly problems: readonly string[];
}

export type Step =
  | { readonly outcome: 'created'; readonly id: string; readonly document: DashboardFields }
  | {
      readonly outcome: 'changed';
      readonly id: string;
      readonly version: number;
      readonly document: DashboardFields;
      readonly differences: readonly DashboardDifference[];
    }
  | { readonly outcome: 'unchanged'; readonly id: string; readonly document: DashboardFields }
  | { readonly outcome: 'deleted' | 'absent'; readonly id: string; readonly version: number; readonly name: string }
  | { readonly outcome: 'refused'; readonly id: string; readonly name: string; readonly message: string };

/**
 * Returns YAML and JSON files in a folder and its subfolders, except hidden files, which are locks of editors. In a
 * mounted ConfigMap, files are links into a hidden folder: they are read once, by their visible names.
 */
const listFiles = async (folder: string): Promise<string[]> => {
  const paths: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!/\.(?:ya?ml|json)$/i.test(entry.name)) continue;
    if (isHidden(relative(folder, path))) continue;
    if (entry.isFile() || (entry.isSymbolicLink() && (await isLinkToFile(path)))) paths.push(path);
  }
  return paths.sort();
};

/** Broken links count as files, so that reading them reports the problem. */
const isLinkToFile = async (link: string): Promise<boolean> => {
  const targetStats = await stat(link).catch(ignoreMissing);
  return targetStats?.isFile() ?? true;
};

const ignoreMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/** Reads a folder of dashboards. */
export const readDashboardFolder = async (folder: string, source: string): Promise<Folder> => {
  const paths = await listFiles(folder);
  const dashboards = new Map<string, DashboardFile>();
  const problems: string[] = [];
  for (const path of paths) {
    const file = relative(folder, path);
    const text = await readFile(path, 'utf8').catch(ignoreMissing);
    if (text === undefined) {
      problems.push(`${file}:1: links to a file that does not exist`);
      continue;
    }
    const parsedFile = parseFileWithLines(text);
    if ('problems' in parsedFile) {
      problems.push(
        ...parsedFile.problems.map(
          ({ line, path: field, message }) => `${file}:${line}: ${field === '' ? '' : `${field}: `}${message}`,
        ),
      );
      continue;
    }
    const existingFile = dashboards.get(parsedFile.id);
    if (existingFile !== undefined)
      problems.push(`${file}:1: id: ${existingFile.file} also has the id ${parsedFile.id}`);
    else if (parsedFile.source !== undefined && parsedFile.source !== source)
      problems.push(`${file}:1: source: is ${parsedFile.source}, but --source is ${source}`);
    else dashboards.set(parsedFile.id, { file, id: parsedFile.id, document: parsedFile.document });
  }
  return { dashboards: [...dashboards.values()], problems };
};

/** A different source, or none, is a difference too. */
const findSourceDifferences = (before: string | null, after: string): DashboardDifference[] =>
  before === after
    ? []
    : [{ path: 'source', what: before === null ? 'source added' : 'source changed', before, after }];

/** Options for planning and applying a folder. */
export interface Deployment {
  readonly api: DashboardsApi;
  readonly source: string;
  /** Whether dashboards that the source no longer contains are deleted */
  readonly shouldPrune: boolean;
  /** Whether dashboards of another source are taken over */
  readonly shouldTakeOver: boolean;
}

const planStep = async (
  { id, document }: DashboardFile,
  { api, source, shouldTakeOver }: Deployment,
): Promise<Step> => {
  const existingDashboard = await api.find(id);
  const createRejectedStep = (message: string): Step => ({ outcome: 'refused', id, name: document.name, message });
  if (
    existingDashboard !== undefined &&
    existingDashboard.source !== null &&
    existingDashboard.source !== source &&
    !shouldTakeOver
  ) {
    return createRejectedStep(
      `is managed as code in ${existingDashboard.source}: choose another id, or take it over with --take`,
    );
  }
  const differences = existingDashboard && [
    ...findSourceDifferences(existingDashboard.source, source),
    ...findDashboardDifferences(existingDashboard.document, document),
  ];
  if (differences?.length === 0) return { outcome: 'unchanged', id, document };
  const reason = await api.checkImport(id, document);
  if (reason !== undefined) return createRejectedStep(reason);
  if (existingDashboard === undefined || differences === undefined) return { outcome: 'created', id, document };
  return { outcome: 'changed', id, version: existingDashboard.version, document, differences };
};

/** Returns the steps that bring an organization's dashboards to the state of a folder, deletions last. */
export const createPlan = async ({ dashboards, problems }: Folder, deployment: Deployment): Promise<Step[]> => {
  const { api, source, shouldPrune } = deployment;
  const steps: Step[] = [];
  for (const dashboard of dashboards) steps.push(await planStep(dashboard, deployment));
  const ids = new Set(dashboards.map(({ id }) => id));
  const isComplete = problems.length === 0 && steps.every(({ outcome }) => outcome !== 'refused');
  const outcome = shouldPrune && isComplete ? 'deleted' : 'absent';
  for (const { id, version, name } of await api.list({ source }))
    if (!ids.has(id)) steps.push({ outcome, id, version, name });
  return steps;
};
