/** What a request asks for beside its search, as parts of a `Query`. */
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { ProjectScope } from '../project-scope.ts';
import { parseSearch } from './parse.ts';

export interface RecordFilter extends ProjectScope {
  readonly service?: string | undefined;
  readonly search?: string | undefined;
}

/** A condition of a search: that a field has this value, whatever its characters are. */
export const fieldIs = (field: string, value: string): string => `${field}:"${value.replace(/["\\]/g, '\\$&')}"`;

/** A service is a condition of the search, and the whole organization is no project. Throws where the search is invalid. */
export const queryPartsOf = (
  signal: Signal,
  { service, search, projectId, scope }: RecordFilter,
): { readonly search?: string; readonly projectId?: string } => {
  // By itself first: what an error says of columns is then of the text that was sent, and a parenthesis closes nothing of ours.
  // Punctuation alone finds nothing by itself, and would say nothing beside a service.
  const isNone = search !== undefined && parseSearch(search, signal).is === 'none';
  const searches = [
    ...(service === undefined || isNone ? [] : [fieldIs('service', service)]),
    // A backslash at its end would take the parenthesis.
    ...(search === undefined || search.trim() === '' ? [] : [`(${search} )`]),
  ];
  return {
    ...(searches.length === 0 ? {} : { search: searches.join(' AND ') }),
    ...(projectId === undefined || scope === 'account' ? {} : { projectId }),
  };
};
