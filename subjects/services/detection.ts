/** Detects deployments from the activity of versions. Pure: activity is the input, deployments are the output. */

/** Activity of a service version in an environment, in steps */
export interface VersionActivity {
  readonly service: string;
  readonly environment: string;
  readonly version: string;
  /** Steps with telemetry, ascending */
  readonly steps: readonly number[];
  /** Time at which the organization first received data of the version, epoch milliseconds */
  readonly firstReceivedMs: number;
}

export interface DetectedDeployment {
  readonly service: string;
  readonly environment: string;
  readonly version: string;
  readonly previousVersion: string;
  /** Step in which the version became active */
  readonly step: number;
  readonly isRollback: boolean;
}

interface VersionRun {
  readonly version: VersionActivity;
  readonly first: number;
  readonly last: number;
  /** Number of steps with telemetry */
  readonly active: number;
  /** Whether this is the first run of the version in the examined period */
  readonly isFirst: boolean;
}

/**
 * Returns the deployments in the activity of versions. A version that appears after another one of the same service and
 * environment was active is a deployment. A version that returns is one (a rollback) if another was active in between
 * and stops. A restart, more instances of a running version, and a removed canary are not deployments. The first known
 * version is not a deployment either. More than `maxQuietSteps` steps without data end a run; `end` is the last known
 * step.
 */
export const detectDeployments = (
  activity: readonly VersionActivity[],
  { maxQuietSteps, end }: { readonly maxQuietSteps: number; readonly end: number },
): DetectedDeployment[] => {
  const byEnvironment = Map.groupBy(activity, ({ service, environment }) => JSON.stringify([service, environment]));
  return [...byEnvironment.values()].flatMap((versions) => detectInEnvironment(versions, maxQuietSteps, end));
};

const splitRuns = (version: VersionActivity, maxQuietSteps: number): VersionRun[] => {
  const runs: VersionRun[] = [];
  let first: number | undefined;
  let last = 0;
  let active = 0;
  const close = (): void => {
    if (first !== undefined) runs.push({ version, first, last, active, isFirst: runs.length === 0 });
  };
  for (const step of version.steps) {
    if (first === undefined || step - last > maxQuietSteps) {
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

/** Minimum active steps of a returning version; with fewer, it may be a version that rarely sends data */
const minActiveSteps = 2;

const detectInEnvironment = (
  versions: readonly VersionActivity[],
  maxQuietSteps: number,
  end: number,
): DetectedDeployment[] => {
  const runs = versions
    .flatMap((version) => splitRuns(version, maxQuietSteps))
    .sort((one, other) => one.first - other.first);
  return runs.flatMap((run): DetectedDeployment[] => {
    const { version, first } = run;
    /** Earlier runs of other versions, the most recently active first. */
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
    const previousRun = runs.filter((other) => other.version === version && other.last < first).at(-1);
    // No other version was active since: this is a restart.
    if (previousRun !== undefined && previous.last <= previousRun.last) return [];
    const replacesPrevious = previous.last + maxQuietSteps <= end && previous.last < run.last;
    const isReturn = run.active >= minActiveSteps && replacesPrevious;
    return isReturn ? [{ ...found, isRollback: true }] : [];
  });
};
