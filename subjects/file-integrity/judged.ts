/** Changes with their verdicts; baselines, packages and deployments are read per page */

import { findRangeProblem, type Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { documentsIn } from '../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { type ApprovedState, fileBaselineParts, fileBaselines } from '../../schemas/resources/file-baseline.ts';
import { readEvents } from '../events/events.ts';
import type { HistoryPage } from '../events/history-page.ts';
import { type Deployment, readDeployments, recordedOf } from '../services/deployments.ts';
import { baselinesOf, type Evidence, type Judgement, judge, type KnownBaseline } from './judge.ts';
import { type ChangeFilter, readChanges, readPackages, readServicesOf, type StoredChange } from './stored.ts';

export interface JudgedChange {
  readonly change: StoredChange;
  readonly judgement: Judgement;
}

export interface Judging {
  readonly reading: Reading;
  readonly own: TenantDocuments;
  /** Maximum time between a change and its explanation */
  readonly windowMs: number;
}

/** Default of the window, in seconds */
export const defaultWindowSeconds = 600;

/** Files of baselines, each read only once */
class BaselineFiles {
  readonly #own: TenantDocuments;
  readonly #known = new Map<string, ReadonlyMap<string, readonly ApprovedState[]>>();

  constructor(own: TenantDocuments) {
    this.#own = own;
  }

  async load(ids: Iterable<string>): Promise<void> {
    for (const baselineId of ids) {
      if (this.#known.has(baselineId)) continue;
      const files = new Map<string, readonly ApprovedState[]>();
      for await (const part of documentsIn(this.#own.collection(fileBaselineParts), { filter: { baselineId } }))
        for (const { path, states } of part.files) files.set(path, states);
      this.#known.set(baselineId, files);
    }
  }

  statesOf(baselineId: string, path: string): readonly ApprovedState[] | undefined {
    return this.#known.get(baselineId)?.get(path);
  }
}

const maxDeployments = 1_000;

const deploymentsIn = async (reading: Reading, range: Range): Promise<readonly Deployment[]> => {
  const scope = { scope: 'account' } as const;
  if (findRangeProblem(range, { caller: reading, signal: 'traces', nowMs: reading.nowMs }) === undefined)
    return (await readDeployments(reading, { ...scope, range })).deployments;
  const events = await readEvents(reading, { ...scope, range, kinds: ['deployment'] }, { limit: maxDeployments });
  return events.map(recordedOf);
};

const none = { packages: [], deployments: [], services: new Set<string>() };

/** Returns possible explanations of changes. */
const explanations = async (
  { reading, windowMs }: Judging,
  changes: readonly StoredChange[],
): Promise<Pick<Evidence, 'packages' | 'deployments' | 'services'>> => {
  const hosts = [...new Set(changes.map(({ host }) => host))].filter((host) => host !== '');
  if (hosts.length === 0) return none;
  const times = changes.map(({ ms }) => Number(ms));
  const range = {
    from: BigInt(Math.min(...times) - windowMs) * 1_000_000n,
    to: BigInt(Math.max(...times) + windowMs) * 1_000_000n,
  };
  const [packages, deployments] = await Promise.all([
    readPackages(reading, hosts, range),
    deploymentsIn(reading, range),
  ]);
  const services = deployments.length === 0 ? none.services : await readServicesOf(reading, hosts);
  return { packages, deployments, services };
};

/** Returns all baselines that were ever approved. */
const approvedBaselines = async (own: TenantDocuments): Promise<KnownBaseline[]> => {
  const found: KnownBaseline[] = [];
  for await (const each of documentsIn(own.collection(fileBaselines), { filter: { approvedAt: { $ne: null } } }))
    found.push(each);
  return found;
};

const pageSize = 500;

/** Yields changes with their verdicts, the newest first, page by page until the end. */
export async function* judgedChanges(
  judging: Judging,
  filter: ChangeFilter,
  { range, after }: Pick<HistoryPage, 'range' | 'after'>,
  size = pageSize,
): AsyncGenerator<readonly JudgedChange[]> {
  const baselines = await approvedBaselines(judging.own);
  const files = new BaselineFiles(judging.own);
  for (let behind = after; ; ) {
    const changes = await readChanges(judging.reading, filter, { range, after: behind, limit: size });
    if (changes.length === 0) return;
    await files.load(new Set(changes.flatMap((change) => baselinesOf(baselines, change).map(({ id }) => id))));
    const statesOf: Evidence['statesOf'] = (id, path) => files.statesOf(id, path);
    const evidence = { baselines, statesOf, windowMs: judging.windowMs };
    const bare = changes.map((change) => judge(change, { ...evidence, ...none }));
    const open = changes.filter((_, at) => bare[at]?.verdict !== 'approved');
    const explained = open.length === 0 ? none : await explanations(judging, open);
    yield changes.map((change) => ({ change, judgement: judge(change, { ...evidence, ...explained }) }));
    const last = changes.at(-1);
    if (changes.length < size || last === undefined) return;
    behind = { ms: last.ms, id: last.id };
  }
}
