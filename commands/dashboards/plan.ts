/** The changes that a folder of dashboards as code would make. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type DashboardDifference, dashboardDifferences } from '../../subjects/dashboards/difference.ts';
import type { DashboardFields } from '../../subjects/dashboards/document.ts';
import { readPlacedFile } from '../../subjects/dashboards/file-lines.ts';
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
const filesIn = async (folder: string): Promise<string[]> => {
  const paths: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!/\.(?:ya?ml|json)$/i.test(entry.name)) continue;
    if (isHidden(relative(folder, path))) continue;
    if (entry.isFile() || (entry.isSymbolicLink() && (await leadsToFile(path)))) paths.push(path);
  }
  return paths.sort();
};

/** A broken link is reported when it is read. */
const leadsToFile = async (link: string): Promise<boolean> => {
  const found = await stat(link).catch(unlessMissing);
  return found?.isFile() ?? true;
};

const unlessMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/** Reads a folder of dashboards. */
export const folderOf = async (folder: string, source: string): Promise<Folder> => {
  const paths = await filesIn(folder);
  const dashboards = new Map<string, DashboardFile>();
  const refused: string[] = [];
  for (const path of paths) {
    const file = relative(folder, path);
    const text = await readFile(path, 'utf8').catch(unlessMissing);
    if (text === undefined) {
      refused.push(`${file}:1: links to a file that does not exist`);
      continue;
    }
    const read = readPlacedFile(text);
    if ('problems' in read) {
      refused.push(
        ...read.problems.map(
          ({ line, path: field, message }) => `${file}:${line}: ${field === '' ? '' : `${field}: `}${message}`,
        ),
      );
      continue;
    }
    const other = dashboards.get(read.id);
    if (other !== undefined) refused.push(`${file}:1: id: ${other.file} has the id ${read.id} too`);
    else if (read.source !== undefined && read.source !== source)
      refused.push(`${file}:1: source: is ${read.source}, but --source is ${source}`);
    else dashboards.set(read.id, { file, id: read.id, document: read.document });
  }
  return { dashboards: [...dashboards.values()], refused };
};

/** A different source, or none, is a difference too. */
const ofSource = (before: string | null, after: string): DashboardDifference[] =>
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

const stepFor = async ({ id, document }: DashboardFile, { api, source, takesOver }: Deployment): Promise<Step> => {
  const present = await api.find(id);
  const refused = (message: string): Step => ({ outcome: 'refused', id, name: document.name, message });
  if (present !== undefined && present.source !== null && present.source !== source && !takesOver) {
    return refused(`is managed as code in ${present.source}: choose another id, or take it over with --take`);
  }
  const differences = present && [
    ...ofSource(present.source, source),
    ...dashboardDifferences(present.document, document),
  ];
  if (differences?.length === 0) return { outcome: 'unchanged', id, document };
  const reason = await api.refusalOf(id, document);
  if (reason !== undefined) return refused(reason);
  if (present === undefined || differences === undefined) return { outcome: 'created', id, document };
  return { outcome: 'changed', id, version: present.version, document, differences };
};

/** Returns the steps that bring an organization's dashboards to the state of a folder, deletions last. */
export const planOf = async ({ dashboards, refused }: Folder, deployment: Deployment): Promise<Step[]> => {
  const { api, source, prunes } = deployment;
  const steps: Step[] = [];
  for (const one of dashboards) steps.push(await stepFor(one, deployment));
  const ids = new Set(dashboards.map(({ id }) => id));
  const isWhole = refused.length === 0 && steps.every(({ outcome }) => outcome !== 'refused');
  const outcome = prunes && isWhole ? 'deleted' : 'absent';
  for (const { id, version, name } of await api.list({ source }))
    if (!ids.has(id)) steps.push({ outcome, id, version, name });
  return steps;
};
