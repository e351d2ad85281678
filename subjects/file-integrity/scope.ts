/** Hosts and files to which a baseline applies */
import { trimTrailing } from '../../schemas/text.ts';

export interface FileScope {
  /** Host names, in which `*` matches any text; empty for all hosts */
  readonly hosts: readonly string[];
  /** Paths; files at and below them are included */
  readonly paths: readonly string[];
}

/** Returns an RE2 expression for a host name with asterisks. */
const toHostPattern = (host: string): string => `^${host.replace(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*')}$`;

/** Returns a directory without trailing separators: `/etc/` becomes `/etc`, and `/` includes all files. */
export const trimFolder = (path: string): string => trimTrailing(path, '/\\');

export const isBelow = (path: string, folder: string): boolean => {
  const trimmedFolder = trimFolder(folder);
  if (!path.startsWith(trimmedFolder)) return false;
  const next = path[trimmedFolder.length];
  return next === undefined || next === '/' || next === '\\';
};

/** Takes linear time for any number of asterisks. */
const matchesHost = (pattern: string, host: string): boolean => {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === host;
  if (!host.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest) {
    const foundAt = host.indexOf(part, position);
    if (foundAt < 0) return false;
    position = foundAt + part.length;
  }
  return host.length - last.length >= position && host.endsWith(last);
};

export const includesHost = ({ hosts }: FileScope, host: string): boolean =>
  hosts.length === 0 || hosts.some((hostPatternText) => matchesHost(hostPatternText, host));

export const includesFile = (scope: FileScope, host: string, path: string): boolean =>
  scope.paths.some((scopePath) => isBelow(path, scopePath)) && includesHost(scope, host);

/** Returns the SQL condition for rows with `host` and a path in the scope, and its parameters. */
export const createScopeCondition = ({ hosts, paths }: FileScope, path = 'path') => ({
  sql: `${hosts.length === 0 ? '' : '(host IN {hosts:Array(String)} OR arrayExists(pattern -> match(host, pattern), {hostPatterns:Array(String)})) AND '}arrayExists(folder -> ${path} = folder OR startsWith(${path}, concat(folder, '/')) OR startsWith(${path}, concat(folder, '\\\\')), {folders:Array(String)})`,
  values: {
    folders: paths.map(trimFolder),
    ...(hosts.length > 0 && {
      hosts: [...hosts],
      hostPatterns: hosts.filter((host) => host.includes('*')).map((host) => `(?s)${toHostPattern(host)}`),
    }),
  },
});
