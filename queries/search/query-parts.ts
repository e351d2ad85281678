/** Converts request parameters besides the search to parts of a `Query`. */
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { ProjectScope } from '../project-scope.ts';
import { parseSearch } from './parse.ts';

export interface RecordFilter extends ProjectScope {
  readonly service?: string | undefined;
  readonly search?: string | undefined;
}

/** Returns a search condition that a field equals a value, with any characters. */
export const buildFieldEquals = (field: string, value: string): string =>
  `${field}:"${value.replace(/["\\]/g, '\\$&')}"`;

/**
 * Combines the parameters: a service becomes a condition of the search, and the organization scope omits the project.
 * Throws if the search is invalid.
 */
export const toQueryParts = (
  signal: Signal,
  { service, search, projectId, scope }: RecordFilter,
): { readonly search?: string; readonly projectId?: string } => {
  // The search is first parsed by itself, so that columns in errors refer to the text of the request, and its
  // parentheses cannot close those added here.
  if (search !== undefined) parseSearch(search, signal);
  const searches = [
    ...(service === undefined ? [] : [buildFieldEquals('service', service)]),
    // A backslash at the end would escape the parenthesis.
    ...(search === undefined || search.trim() === '' ? [] : [`(${search} )`]),
  ];
  return {
    ...(searches.length === 0 ? {} : { search: searches.join(' AND ') }),
    ...(projectId === undefined || scope === 'account' ? {} : { projectId }),
  };
};
