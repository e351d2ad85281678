/** Deployments as the versions tell of them that were active when. Pure: what was seen goes in, deployments come out. */

/** When a version of a service in an environment was active, in steps. */
export interface VersionActivity {
  readonly service: string;
  readonly environment: string;
  readonly version: string;
  /** Steps in which it sent something, ascending. */
  readonly steps: readonly number[];
  /** When the organization first received something of it, epoch milliseconds. */
  readonly firstReceivedMs: number;
}

export interface DetectedDeployment {
  readonly service: string;
  readonly environment: string;
  readonly version: string;
  readonly previousVersion: string;
  /** The step in which the version was first active again. */
  readonly step: number;
  readonly isRollback: boolean;
}

interface Run {
  readonly version: VersionActivity;
  readonly first: number;
  readonly last: number;
  /** Steps in which it sent something. */
  readonly active: number;
  /** Of its version, in what is looked at. */
  readonly isFirst: boolean;
}

/**
 * A version that appears after another one of the same service and environment was active is a deployment. A version that comes back
 * is one (a rollback) when another was active in between and stops: a restart, more instances of a version that still runs, and a
 * canary that is taken away are none. The first version of all that is known is none: there is nothing before it.
 * `quiet`: how many steps without anything end a run; `end`: the last step that is known.
 */
export const deploymentsIn = (
  activity: readonly VersionActivity[],
  { quiet, end }: { readonly quiet: number; readonly end: number },
): DetectedDeployment[] => {
  const places = Map.groupBy(activity, ({ service, environment }) => JSON.stringify([service, environment]));
  return [...places.values()].flatMap((versions) => deploymentsOf(versions, quiet, end));
};

const runsOf = (version: VersionActivity, quiet: number): Run[] => {
  const runs: Run[] = [];
  let first: number | undefined;
  let last = 0;
  let active = 0;
  const close = (): void => {
    if (first !== undefined) runs.push({ version, first, last, active, isFirst: runs.length === 0 });
  };
  for (const step of version.steps) {
    if (first === undefined || step - last > quiet) {
      close();
      first = step;
      active = 0;
    }
    last = step;
    active++;
  }
  close();
  return runs;
};

/** A version that came back for one step only may be one that sends seldom. */
const minActive = 2;

const deploymentsOf = (versions: readonly VersionActivity[], quiet: number, end: number): DetectedDeployment[] => {
  const runs = versions.flatMap((version) => runsOf(version, quiet)).sort((one, other) => one.first - other.first);
  return runs.flatMap((run): DetectedDeployment[] => {
    const { version, first } = run;
    /** Those of other versions that were active before, the one that was active last first. */
    const before = runs
      .filter((other) => other.version !== version && other.first < first)
      .sort((one, other) => Math.min(other.last, first) - Math.min(one.last, first) || other.first - one.first);
    const previous = before[0];
    if (previous === undefined) return [];
    const { service, environment } = version;
    const found = {
      service,
      environment,
      version: version.version,
      previousVersion: previous.version.version,
      step: first,
    };
    if (run.isFirst) return [{ ...found, isRollback: version.firstReceivedMs < previous.version.firstReceivedMs }];
    const mine = runs.filter((other) => other.version === version && other.last < first).at(-1);
    // Nothing else was active since: it was started again.
    if (mine !== undefined && previous.last <= mine.last) return [];
    const isReplaced = previous.last + quiet <= end && previous.last < run.last;
    const isBack = run.active >= minActive && isReplaced;
    return isBack ? [{ ...found, isRollback: true }] : [];
  });
};
