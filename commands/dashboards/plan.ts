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
  readonly refused: readonly string[];
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
    if (entry.isFile() || (entry.isSymbolicLink() && (await leadsToFile(path)))) paths.push(path);
  }
  return paths.sort();
};

/** Broken links count as files, so that reading them reports the problem. */
const leadsToFile = async (link: string): Promise<boolean> => {
  const found = await stat(link).catch(ignoreMissing);
  return found?.isFile() ?? true;
};

const ignoreMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/** Reads a folder of dashboards. */
export const readDashboardFolder = async (folder: string, source: string): Promise<Folder> => {
  const paths = await listFiles(folder);
  const dashboards = new Map<string, DashboardFile>();
  const refused: string[] = [];
  for (const path of paths) {
    const file = relative(folder, path);
    const text = await readFile(path, 'utf8').catch(ignoreMissing);
    if (text === undefined) {
      refused.push(`${file}:1: links to a file that does not exist`);
      continue;
    }
    const parsed = parseFileWithLines(text);
    if ('problems' in parsed) {
      refused.push(
        ...parsed.problems.map(
          ({ line, path: field, message }) => `${file}:${line}: ${field === '' ? '' : `${field}: `}${message}`,
        ),
      );
      continue;
    }
    const duplicate = dashboards.get(parsed.id);
    if (duplicate !== undefined) refused.push(`${file}:1: id: ${duplicate.file} has the id ${parsed.id} too`);
    else if (parsed.source !== undefined && parsed.source !== source)
      refused.push(`${file}:1: source: is ${parsed.source}, but --source is ${source}`);
    else dashboards.set(parsed.id, { file, id: parsed.id, document: parsed.document });
  }
  return { dashboards: [...dashboards.values()], refused };
};

/** A different source, or none, is a difference too. */
const sourceDifferences = (before: string | null, after: string): DashboardDifference[] =>
  before === after
    ? []
    : [{ path: 'source', what: before === null ? 'source added' : 'source changed', before, after }];

/** Options for planning and applying a folder. */
export interface Deployment {
  readonly api: DashboardsApi;
  readonly source: string;
  /** Whether dashboards that the source no longer contains are deleted */
  readonly prunes: boolean;
  /** Whether dashboards of another source are taken over */
  readonly takesOver: boolean;
}

const planStep = async ({ id, document }: DashboardFile, { api, source, takesOver }: Deployment): Promise<Step> => {
  const stored = await api.find(id);
  const refused = (message: string): Step => ({ outcome: 'refused', id, name: document.name, message });
  if (stored !== undefined && stored.source !== null && stored.source !== source && !takesOver) {
    return refused(`is managed as code in ${stored.source}: choose another id, or take it over with --take`);
  }
  const differences = stored && [
    ...sourceDifferences(stored.source, source),
    ...findDashboardDifferences(stored.document, document),
  ];
  if (differences?.length === 0) return { outcome: 'unchanged', id, document };
  const reason = await api.checkImport(id, document);
  if (reason !== undefined) return refused(reason);
  if (stored === undefined || differences === undefined) return { outcome: 'created', id, document };
  return { outcome: 'changed', id, version: stored.version, document, differences };
};

/** Returns the steps that bring an organization's dashboards to the state of a folder, deletions last. */
export const createPlan = async ({ dashboards, refused }: Folder, deployment: Deployment): Promise<Step[]> => {
  const { api, source, prunes } = deployment;
  const steps: Step[] = [];
  for (const one of dashboards) steps.push(await planStep(one, deployment));
  const ids = new Set(dashboards.map(({ id }) => id));
  const isComplete = refused.length === 0 && steps.every(({ outcome }) => outcome !== 'refused');
  const outcome = prunes && isComplete ? 'deleted' : 'absent';
  for (const { id, version, name } of await api.list({ source }))
    if (!ids.has(id)) steps.push({ outcome, id, version, name });
  return steps;
};
