/** Parses log lines of package managers and recognizes their programs */
import type { PackageAction, PackageChange } from '../../schemas/file-changes.ts';
import { clampToPlausibleTime, parseTime } from './read.ts';

type ParsedPackageChange = Pick<PackageChange, 'manager' | 'action' | 'package' | 'version' | 'timeMs'>;

interface PackageLine {
  readonly manager: string;
  /** Groups: `time` if the line has a full timestamp, `action`, `name`, `version` */
  readonly pattern: RegExp;
}

const actionsByWord: Readonly<Record<string, PackageAction>> = {
  install: 'installed',
  installed: 'installed',
  'status installed': 'installed',
  reinstalled: 'installed',
  upgrade: 'upgraded',
  upgraded: 'upgraded',
  updated: 'upgraded',
  update: 'upgraded',
  downgraded: 'upgraded',
  remove: 'removed',
  removed: 'removed',
  erase: 'removed',
  erased: 'removed',
  purge: 'removed',
};

/** A name, a hyphen, and a part that begins with a digit: `openssl-libs-1:3.0.7-25.el9.x86_64` */
const nevraPattern = String.raw`(?:\d+:)?(?<name>[\w.+-]+?)-(?<version>(?:\d+:)?\d[^\s-]*-[^\s]+)`;

const packageLines: readonly PackageLine[] = [
  {
    manager: 'dpkg',
    pattern:
      /^(?<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?<action>install|upgrade|remove|purge|status installed) (?<name>[\w.+-]+)(?::[\w-]+)? (?:\S+ (?!$))?(?<version>\S+)?/,
  },
  {
    manager: 'dnf',
    pattern: new RegExp(
      `^(?<time>\\d{4}-\\d\\d-\\d\\dT\\S+) \\w+ (?<action>Installed|Upgraded?|Updated|Erased?|Removed|Reinstalled|Downgraded): ${nevraPattern}`,
    ),
  },
  {
    manager: 'yum',
    pattern: new RegExp(
      `(?:^|\\d\\d:\\d\\d:\\d\\d |yum\\[\\d+\\]: |dnf\\[\\d+\\]: )(?<action>Installed|Updated|Upgraded|Erased|Removed): ${nevraPattern}`,
    ),
  },
  {
    manager: 'pacman',
    pattern:
      /^\[(?<time>[\dT:+ -]+)\] \[ALPM\] (?<action>installed|upgraded|removed|reinstalled|downgraded) (?<name>\S+) \((?:\S+ -> )?(?<version>[^)]+)\)/,
  },
  {
    manager: 'zypper',
    pattern:
      /^(?<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\|(?<action>install|remove) *\|(?<name>[^|]+)\|(?<version>[^|]+)\|/,
  },
];

/** `Upgrade: nginx:amd64 (1.18.0, 1.20.1), curl:amd64 (7.1, 7.2)` in the history of apt */
const aptLine = /^(Install|Upgrade|Remove|Purge|Reinstall|Downgrade): (.+)$/;
const aptPackage = /^([\w.+-]+)(?::[\w-]+)? \(([^)]*)/;
/** `type=SOFTWARE_UPDATE … sw="nginx-1.20.1-1.el9" sw_type=rpm …` of auditd; `msg=` contains its own pairs */
const auditLine = /type=SOFTWARE_UPDATE msg=audit\((\d+\.\d+):\d+\)/;
const auditPackage = /\bsw="?([^\s"=]+)"? sw_type=(\w+)/;
/** A name, a version and a release; the name may contain hyphens */
const nameAndVersion = /^([\w.+:-]+)-([^-]+-[^-]+)$/;
const auditAction = /\bop=(\w+)/;

const maxPackages = 500;

const parseAptLine = (line: string, recordMs: number): ParsedPackageChange[] => {
  const [, word = '', list = ''] = aptLine.exec(line) ?? [];
  const action = actionsByWord[word.toLowerCase()] ?? 'installed';
  return list.split('), ', maxPackages).flatMap((listedPackage) => {
    const [, name = '', versions = ''] = aptPackage.exec(listedPackage) ?? [];
    const version = versions.split(', ').findLast((versionText) => versionText !== 'automatic') ?? '';
    return name === '' ? [] : [{ manager: 'apt', action, package: name, version, timeMs: recordMs }];
  });
};

/** Maximum line length; longer lines have other content. Only the history of apt lists all packages in one line. */
const maxLineLength = 1_024;

const parseLine = (line: string, recordMs: number): ParsedPackageChange[] => {
  if (aptLine.test(line)) return parseAptLine(line, recordMs);
  if (line.length > maxLineLength) return [];
  const audit = auditLine.exec(line);
  if (audit !== null) {
    const [, seconds = ''] = audit;
    const [, software = '', manager = ''] = auditPackage.exec(line) ?? [];
    const [, name = '', version = ''] = nameAndVersion.exec(software) ?? [];
    if (name === '') return [];
    const action = actionsByWord[auditAction.exec(line)?.[1] ?? ''] ?? 'installed';
    return [{ manager, action, package: name, version, timeMs: clampToPlausibleTime(parseTime(seconds), recordMs) }];
  }
  for (const { manager, pattern } of packageLines) {
    const { action = '', name = '', version = '' } = pattern.exec(line)?.groups ?? {};
    const mappedAction = actionsByWord[action.toLowerCase()];
    // Times of these logs have no time zone, so the time of the record is more reliable.
    if (mappedAction !== undefined)
      return [{ manager, action: mappedAction, package: name, version: version.slice(0, 256), timeMs: recordMs }];
  }
  return [];
};

/** Returns the package changes in a text, line by line. */
export const parsePackageChanges = (body: string, recordMs: number): ParsedPackageChange[] => {
  const packageChanges: ParsedPackageChange[] = [];
  for (const line of body.split('\n')) {
    for (const packageChange of parseLine(line.trim(), Math.floor(recordMs))) packageChanges.push(packageChange);
    if (packageChanges.length >= maxPackages) break;
  }
  return packageChanges.slice(0, maxPackages);
};

/** Programs that change files as part of a package installation, upgrade or removal */
const packageManagerPrograms = new Set(
  [
    'dpkg',
    'dpkg-deb',
    'apt',
    'apt-get',
    'aptitude',
    'unattended-upgr',
    'unattended-upgrade',
    'rpm',
    'yum',
    'dnf',
    'dnf5',
    'microdnf',
    'packagekitd',
    'zypper',
    'pacman',
    'apk',
    'snapd',
    'rpm-ostree',
    'TiWorker.exe',
    'TrustedInstaller.exe',
    'msiexec.exe',
  ].map((name) => name.toLowerCase()),
);

/** Returns the package manager of a program; `undefined` for any other. */
export const findPackageManager = (process: string): string | undefined => {
  const name =
    process
      .slice(Math.max(process.lastIndexOf('/'), process.lastIndexOf('\\')) + 1)
      .split(' ')[0]
      ?.toLowerCase() ?? '';
  return packageManagerPrograms.has(name) ? name : undefined;
};
