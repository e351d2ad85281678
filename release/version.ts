/** Where the version is, and its release notes. */

export interface VersionFile {
  readonly path: string;
  /** Text before a version */
  readonly before: RegExp;
  /** Number of places, from the beginning of the file */
  readonly places: number;
}

export const versionFiles: readonly VersionFile[] = [
  { path: 'package.json', before: /^ {2}"version": "/, places: 1 },
  { path: 'package-lock.json', before: /^(?: {2}| {6})"version": "/, places: 2 },
  { path: 'charts/oiq/Chart.yaml', before: /^(?:version|appVersion): /, places: 2 },
];

const versionPattern = /^\d+\.\d+\.\d+(?:-[\w.]+)?/;

/** Returns the file with another version in all its places. */
export const setVersion = ({ before, places }: VersionFile, text: string, version: string): string => {
  let changed = 0;
  return text
    .split('\n')
    .map((line) => {
      const [prefix] = before.exec(line) ?? [];
      if (prefix === undefined || changed === places) return line;
      changed++;
      return prefix + line.slice(prefix.length).replace(versionPattern, version);
    })
    .join('\n');
};

/** Returns the versions that a file has. */
export const readVersions = ({ before, places }: VersionFile, text: string): string[] =>
  text
    .split('\n')
    .flatMap((line) => {
      const [prefix] = before.exec(line) ?? [];
      return prefix === undefined ? [] : (versionPattern.exec(line.slice(prefix.length)) ?? []).slice(0, 1);
    })
    .slice(0, places);

/** Returns the section of a version in the changelog, without its heading; undefined if there is none. */
export const readReleaseNotes = (changelog: string, version: string): string | undefined => {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version);
  return section?.slice(section.indexOf('\n') + 1).trim();
};
