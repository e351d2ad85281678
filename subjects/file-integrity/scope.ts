/** Hosts and files to which a baseline applies */
import { trimTrailing } from '../../schemas/text.ts';

export interface FileScope {
  /** Host names, in which `*` matches any text; empty for all hosts */
  readonly hosts: readonly string[];
  /** Paths; files at and below them are included */
  readonly paths: readonly string[];
}

/** Returns an RE2 expression for a host name with asterisks. */
const hostPattern = (host: string): string => `^${host.replace(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*')}$`;

/** Returns a directory without trailing separators: `/etc/` becomes `/etc`, and `/` includes all files. */
export const trimFolder = (path: string): string => trimTrailing(path, '/\\');

export const isBelow = (path: string, folder: string): boolean => {
  const trimmed = trimFolder(folder);
  if (!path.startsWith(trimmed)) return false;
  const next = path[trimmed.length];
  return next === undefined || next === '/' || next === '\\';
};

/** Takes linear time for any number of asterisks. */
const matchesHost = (pattern: string, host: string): boolean => {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === host;
  if (!host.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = host.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return host.length - last.length >= at && host.endsWith(last);
};

export const includesHost = ({ hosts }: FileScope, host: string): boolean =>
  hosts.length === 0 || hosts.some((each) => matchesHost(each, host));

export const includesFile = (scope: FileScope, host: string, path: string): boolean =>
  scope.paths.some((each) => isBelow(path, each)) && includesHost(scope, host);

/** Returns the SQL condition for rows with `host` and a path in the scope, and its parameters. */
export const createScopeCondition = ({ hosts, paths }: FileScope, path = 'path') => ({
  sql: `${hosts.length === 0 ? '' : '(host IN {hosts:Array(String)} OR arrayExists(pattern -> match(host, pattern), {hostPatterns:Array(String)})) AND '}arrayExists(folder -> ${path} = folder OR startsWith(${path}, concat(folder, '/')) OR startsWith(${path}, concat(folder, '\\\\')), {folders:Array(String)})`,
  values: {
    folders: paths.map(trimFolder),
    ...(hosts.length > 0 && {
      hosts: [...hosts],
      hostPatterns: hosts.filter((host) => host.includes('*')).map((host) => `(?s)${hostPattern(host)}`),
    }),
  },
});
