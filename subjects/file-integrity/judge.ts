/** Decides whether a change is approved, explained by another event, or neither. A pure function. */
import type { FileState } from '../../schemas/file-changes.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { ApprovedState, FileBaseline } from '../../schemas/resources/file-baseline.ts';
import type { Deployment } from '../services/deployments.ts';
import { findPackageManager } from './packages.ts';
import { isAbsolute } from './read.ts';
import type { StoredChange, StoredPackage } from './read-changes.ts';
import { includesFile, includesHost, isBelow } from './scope.ts';

export const verdicts = ['approved', 'expected', 'unapproved', 'unknown'] as const;
export type Verdict = (typeof verdicts)[number];

export interface Judgement {
  readonly verdict: Verdict;
  /** Reason, as text for people. */
  readonly reason: string;
  /** The deciding baseline; `null` if there was none */
  readonly baselineId: string | null;
}

export type StoredBaseline = FileBaseline & StoredMetadata;

/** Evidence against which a change is judged */
export interface Evidence {
  readonly baselines: readonly StoredBaseline[];
  /** Returns the states of a file in a baseline; `undefined` if the file is not in it. */
  getStates(baselineId: string, path: string): readonly ApprovedState[] | undefined;
  readonly packages: readonly StoredPackage[];
  readonly deployments: readonly Deployment[];
  /** Services that ran on a host, as `host service`. */
  readonly services: ReadonlySet<string>;
  readonly windowMs: number;
}

const hashes = ['sha256', 'sha1', 'md5'] as const;
const metadata = ['mode', 'owner', 'group'] as const;

/** Returns how a state differs from the approved one; `undefined` if it does not. */
const describeDifference = (after: FileState, approved: ApprovedState, isMetadata: boolean): string | undefined => {
  const compared = hashes.filter((name) => after[name] !== undefined && approved[name] !== undefined);
  const differingHash = compared.find((name) => after[name] !== approved[name]);
  if (differingHash !== undefined)
    return `has ${differingHash} ${approved[differingHash]}, and this is ${after[differingHash]}`;
  const differingAttribute = metadata.find(
    (name) => after[name] !== undefined && approved[name] !== undefined && after[name] !== approved[name],
  );
  if (differingAttribute !== undefined)
    return `has ${differingAttribute} ${approved[differingAttribute]}, and this is ${after[differingAttribute]}`;
  if (compared.length > 0) return undefined;
  if (!isMetadata) return 'contains content that the record, which shares no hash with it, does not show';
  const isComparable = metadata.some((name) => after[name] !== undefined && approved[name] !== undefined);
  return isComparable ? undefined : 'contains attributes that the record does not show';
};

/** Returns why a change did not lead to an approved state; `undefined` if it did. */
const explainMismatch = (
  { action, path, path_before: from, after }: StoredChange,
  { id, name }: StoredBaseline,
  statesOf: Evidence['getStates'],
): string | undefined => {
  const states = statesOf(id, path) ?? [];
  const presentStates = states.filter(({ isPresent }) => isPresent);
  const baselineText = `baseline "${name}"`;
  if (action === 'deleted')
    return presentStates.length === 0 || states.some(({ isPresent }) => !isPresent)
      ? undefined
      : `${baselineText} contains the file`;
  if (presentStates.length === 0) return `${baselineText} does not contain the file`;
  if (action === 'renamed' && from !== '' && (statesOf(id, from) ?? []).some(({ isPresent }) => isPresent))
    return `${baselineText} contains the file under its former name`;
  const reasons = presentStates.map((state) => describeDifference(after, state, action === 'attributes-changed'));
  return reasons.includes(undefined) ? undefined : `${baselineText} ${reasons[0]}`;
};

/** Directories in which packages install files */
const packageFolders = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/etc',
  '/opt',
  '/boot',
  '/var/lib',
  '/var/cache',
  'C:\\Windows',
  'C:\\Program Files',
  'C:\\Program Files (x86)',
];
const foldersWithoutPackages = [
  '/usr/local',
  '/etc/passwd',
  '/etc/shadow',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssh',
];
/** Directories that a deployment of a service does not change */
const foldersWithoutDeployments = [
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/usr/bin',
  '/usr/sbin',
  '/usr/lib',
  '/boot',
  '/etc/passwd',
  '/etc/shadow',
  '/etc/group',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/ssh',
  '/etc/pam.d',
  '/root',
];

/** Programs that packages run during installation */
const installHelpers =
  /^(?:sh|dash|bash|perl|python[\d.]*|cp|mv|ln|rm|tar|install|chmod|chown|ldconfig|depmod|mandb|sed|gzip|systemctl|deb-systemd-\S+|update-\S+|systemd-\S+|user(?:add|mod|del)|group(?:add|mod|del)|adduser|addgroup)$/;

/** Returns the file name without directories, because a program in a directory named like a helper is not a helper. */
const fileName = (path: string): string => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

const isWithinWindow = (ms: string | number, atMs: number, windowMs: number): boolean =>
  Math.abs(Number(ms) - atMs) <= windowMs;
const findNearest = <Item>(items: readonly Item[], getTime: (item: Item) => number, atMs: number): Item | undefined =>
  items.toSorted((left, right) => Math.abs(getTime(left) - atMs) - Math.abs(getTime(right) - atMs))[0];

const formatTimeDifference = (ms: number, atMs: number): string => {
  const seconds = Math.round(Math.abs(ms - atMs) / 1000);
  return `${seconds} s ${ms <= atMs ? 'before' : 'after'}`;
};

/** Returns the explanation of a change; `undefined` if there is none. */
const explainChange = (
  change: StoredChange,
  { packages, deployments, services, windowMs }: Evidence,
): string | undefined => {
  const { host, path, process } = change;
  const atMs = Number(change.ms);
  const manager = findPackageManager(process);
  if (manager !== undefined) return `${process}, a package manager, made the change`;
  const isPackageFile =
    packageFolders.some((folder) => isBelow(path, folder)) &&
    !foldersWithoutPackages.some((folder) => isBelow(path, folder)) &&
    (process === '' || installHelpers.test(fileName(process)));
  const nearestPackage = isPackageFile
    ? findNearest(
        packages.filter(
          (storedPackage) => storedPackage.host === host && isWithinWindow(storedPackage.ms, atMs, windowMs),
        ),
        ({ ms }) => Number(ms),
        atMs,
      )
    : undefined;
  if (nearestPackage !== undefined) {
    const { manager: packageManager, action, name, version, ms } = nearestPackage;
    return `${packageManager} ${action} ${name}${version === '' ? '' : ` ${version}`} on ${host} ${formatTimeDifference(Number(ms), atMs)}`;
  }
  if (host === '' || foldersWithoutDeployments.some((folder) => isBelow(path, folder))) return undefined;
  const nearestDeployment = findNearest(
    deployments.filter(
      ({ service, time }) => services.has(`${host} ${service}`) && isWithinWindow(Date.parse(time), atMs, windowMs),
    ),
    ({ time }) => Date.parse(time),
    atMs,
  );
  if (nearestDeployment === undefined) return undefined;
  const { service, version, time, sources } = nearestDeployment;
  return `${service} ${version}, which runs on ${host}, was deployed ${formatTimeDifference(Date.parse(time), atMs)} (${sources.join(' and ')})`;
};

const toScopeKey = ({ hosts, paths }: FileBaseline): string => JSON.stringify([[...hosts].sort(), [...paths].sort()]);

/**
 * Returns the end of an approved baseline's validity: until it is retired, or another baseline of the same files is
 * approved.
 */
const getValidUntil = (baseline: StoredBaseline, allBaselines: readonly StoredBaseline[]): number => {
  const baselineApprovedAt = baseline.approvedAt ?? '';
  const successorTimes = allBaselines
    .filter(
      (allBaseline) =>
        allBaseline.approvedAt !== null &&
        allBaseline.approvedAt > baselineApprovedAt &&
        toScopeKey(allBaseline) === toScopeKey(baseline),
    )
    .map(({ approvedAt }) => Date.parse(approvedAt ?? ''));
  const retirementTimes = baseline.retiredAt === null ? [] : [Date.parse(baseline.retiredAt)];
  return Math.min(Number.POSITIVE_INFINITY, ...successorTimes, ...retirementTimes);
};

/** Returns approved baselines that apply to a file of a host, the most recently approved first. */
export const findBaselines = (
  baselines: readonly StoredBaseline[],
  { host, path, ms }: StoredChange,
): StoredBaseline[] =>
  baselines
    .filter(
      (baseline) =>
        baseline.approvedAt !== null &&
        includesFile(baseline, host, path) &&
        Number(ms) < getValidUntil(baseline, baselines),
    )
    .toSorted((left, right) => ((left.approvedAt ?? '') < (right.approvedAt ?? '') ? 1 : -1));

/** Returns why no verdict is possible: the missing data. */
const explainUnknown = (change: StoredChange, baselines: readonly StoredBaseline[]): string => {
  if (!isAbsolute(change.path)) return 'the record contains a path without its folder';
  const approvedBaselines = baselines.filter(({ approvedAt, retiredAt }) => approvedAt !== null && retiredAt === null);
  if (approvedBaselines.length === 0) return 'there is no approved baseline';
  if (change.host === '' && !approvedBaselines.some((approvedBaseline) => includesHost(approvedBaseline, '')))
    return 'the record contains no host';
  return `no approved baseline covers ${change.path}${change.host === '' ? '' : ` of ${change.host}`}`;
};

export const judgeChange = (change: StoredChange, evidence: Evidence): Judgement => {
  if (change.action === 'read')
    return { verdict: 'unknown', reason: 'the file was read, not changed', baselineId: null };
  const coveringBaselines = findBaselines(evidence.baselines, change);
  const comparisons = coveringBaselines.map((baseline) => ({
    baseline,
    reason: explainMismatch(change, baseline, evidence.getStates),
  }));
  const match = comparisons.find(({ reason }) => reason === undefined);
  if (match !== undefined)
    return {
      verdict: 'approved',
      baselineId: match.baseline.id,
      reason: `it matches baseline "${match.baseline.name}", approved ${match.baseline.approvedAt}`,
    };
  const reason = explainChange(change, evidence);
  if (reason !== undefined) return { verdict: 'expected', reason, baselineId: null };
  const later = comparisons.find(({ baseline }) => Date.parse(baseline.capturedUntil) <= Number(change.ms));
  if (later !== undefined) return { verdict: 'unapproved', reason: later.reason ?? '', baselineId: later.baseline.id };
  const [newestBaseline] = coveringBaselines;
  if (newestBaseline === undefined)
    return { verdict: 'unknown', reason: explainUnknown(change, evidence.baselines), baselineId: null };
  return {
    verdict: 'unknown',
    baselineId: newestBaseline.id,
    reason: `it happened before baseline "${newestBaseline.name}" was captured (${newestBaseline.capturedUntil})`,
  };
};
