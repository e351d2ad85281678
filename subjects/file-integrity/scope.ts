/** Which files of which hosts a baseline is about. */
import { withoutTrailing } from '../../schemas/text.ts';

export interface FileScope {
  /** Names, in which `*` stands for any text; empty is every host. */
  readonly hosts: readonly string[];
  /** Files at and below these. */
  readonly paths: readonly string[];
}

/** Of a name with asterisks, a regular expression of RE2. */
const hostPattern = (host: string): string => `^${host.replace(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*')}$`;

/** Without what a folder's name may end with, so that `/etc/` is `/etc` and `/` is everything. */
export const folderOf = (path: string): string => withoutTrailing(path, '/\\');

export const isBelow = (path: string, folder: string): boolean => {
  const trimmed = folderOf(folder);
  if (!path.startsWith(trimmed)) return false;
  const next = path[trimmed.length];
  return next === undefined || next === '/' || next === '\\';
};

/** In linear time, however many asterisks there are. */
const matches = (pattern: string, host: string): boolean => {
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

export const coversHost = ({ hosts }: FileScope, host: string): boolean =>
  hosts.length === 0 || hosts.some((each) => matches(each, host));

export const covers = (scope: FileScope, host: string, path: string): boolean =>
  scope.paths.some((each) => isBelow(path, each)) && coversHost(scope, host);

/** SQL of rows with `host` and a path that a scope is about, and its parameters. */
export const scopeCondition = ({ hosts, paths }: FileScope, path = 'path') => ({
  sql: `${hosts.length === 0 ? '' : '(host IN {hosts:Array(String)} OR arrayExists(pattern -> match(host, pattern), {hostPatterns:Array(String)})) AND '}arrayExists(folder -> ${path} = folder OR startsWith(${path}, concat(folder, '/')) OR startsWith(${path}, concat(folder, '\\\\')), {folders:Array(String)})`,
  values: {
    folders: paths.map(folderOf),
    ...(hosts.length > 0 && {
      hosts: [...hosts],
      hostPatterns: hosts.filter((host) => host.includes('*')).map((host) => `(?s)${hostPattern(host)}`),
    }),
  },
});
