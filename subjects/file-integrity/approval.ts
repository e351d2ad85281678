/** Changes with their verdicts; baselines, packages and deployments are read per page */

import { findRangeProblem, type Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { type ApprovedState, fileBaselineParts, fileBaselines } from '../../schemas/resources/file-baseline.ts';
import { readEvents } from '../events/events.ts';
import type { HistoryPage } from '../events/history-page.ts';
import { type Deployment, readDeployments, toRecordedDeployment } from '../services/deployments.ts';
import { type Evidence, findBaselines, type Judgement, judgeChange, type StoredBaseline } from './judge.ts';
import {
  type ChangeFilter,
  readChanges,
  readPackages,
  readServicesOnHosts,
  type StoredChange,
} from './read-changes.ts';

export interface JudgedChange {
  readonly change: StoredChange;
  readonly judgement: Judgement;
}

export interface JudgingContext {
  readonly reader: TenantReader;
  readonly tenantDocuments: TenantDocuments;
  /** Maximum time between a change and its explanation */
  readonly windowMs: number;
}

/** Default of the window, in seconds */
export const defaultWindowSeconds = 600;

/** Files of baselines, each read only once */
class BaselineFiles {
  readonly #tenantDocuments: TenantDocuments;
  readonly #filesByBaseline = new Map<string, ReadonlyMap<string, readonly ApprovedState[]>>();

  constructor(tenantDocuments: TenantDocuments) {
    this.#tenantDocuments = tenantDocuments;
  }

  async load(ids: Iterable<string>): Promise<void> {
    for (const baselineId of ids) {
      if (this.#filesByBaseline.has(baselineId)) continue;
      const files = new Map<string, readonly ApprovedState[]>();
      for await (const part of iterateDocuments(this.#tenantDocuments.collection(fileBaselineParts), {
        filter: { baselineId },
      }))
        for (const { path, states } of part.files) files.set(path, states);
      this.#filesByBaseline.set(baselineId, files);
    }
  }

  getStates(baselineId: string, path: string): readonly ApprovedState[] | undefined {
    return this.#filesByBaseline.get(baselineId)?.get(path);
  }
}

const maxDeployments = 1_000;

const readDeploymentsIn = async (reader: TenantReader, range: Range): Promise<readonly Deployment[]> => {
  const scope = { scope: 'account' } as const;
  if (findRangeProblem(range, { caller: reader, signal: 'traces', nowMs: reader.nowMs }) === undefined)
    return (await readDeployments(reader, { ...scope, range })).deployments;
  const events = await readEvents(reader, { ...scope, range, kinds: ['deployment'] }, { limit: maxDeployments });
  return events.map(toRecordedDeployment);
};

const noExplanations = { packages: [], deployments: [], services: new Set<string>() };

/** Returns possible explanations of changes. */
const readExplanations = async (
  { reader, windowMs }: JudgingContext,
  changes: readonly StoredChange[],
): Promise<Pick<Evidence, 'packages' | 'deployments' | 'services'>> => {
  const hosts = [...new Set(changes.map(({ host }) => host))].filter((host) => host !== '');
  if (hosts.length === 0) return noExplanations;
  const times = changes.map(({ ms }) => Number(ms));
  const range = {
    from: BigInt(Math.min(...times) - windowMs) * 1_000_000n,
    to: BigInt(Math.max(...times) + windowMs) * 1_000_000n,
  };
  const [packages, deployments] = await Promise.all([
    readPackages(reader, hosts, range),
    readDeploymentsIn(reader, range),
  ]);
  const services = deployments.length === 0 ? noExplanations.services : await readServicesOnHosts(reader, hosts);
  return { packages, deployments, services };
};

/** Returns all baselines that were ever approved. */
const readApprovedBaselines = async (tenantDocuments: TenantDocuments): Promise<StoredBaseline[]> => {
  const approvedBaselines: StoredBaseline[] = [];
  for await (const baseline of iterateDocuments(tenantDocuments.collection(fileBaselines), {
    filter: { approvedAt: { $ne: null } },
  }))
    approvedBaselines.push(baseline);
  return approvedBaselines;
};

const pageSize = 500;

/** Yields changes with their verdicts, the newest first, page by page until the end. */
export async function* readJudgedChanges(
  context: JudgingContext,
  filter: ChangeFilter,
  { range, after }: Pick<HistoryPage, 'range' | 'after'>,
  pageLimit = pageSize,
): AsyncGenerator<readonly JudgedChange[]> {
  const baselines = await readApprovedBaselines(context.tenantDocuments);
  const files = new BaselineFiles(context.tenantDocuments);
  for (let position = after; ; ) {
    const changes = await readChanges(context.reader, filter, { range, after: position, limit: pageLimit });
    if (changes.length === 0) return;
    await files.load(new Set(changes.flatMap((change) => findBaselines(baselines, change).map(({ id }) => id))));
    const getFileStates: Evidence['getStates'] = (id, path) => files.getStates(id, path);
    const evidence = { baselines, getStates: getFileStates, windowMs: context.windowMs };
    const baselineJudgements = changes.map((change) => judgeChange(change, { ...evidence, ...noExplanations }));
    const unexplainedChanges = changes.filter((_, index) => baselineJudgements[index]?.verdict !== 'approved');
    const explanations =
      unexplainedChanges.length === 0 ? noExplanations : await readExplanations(context, unexplainedChanges);
    yield changes.map((change) => ({ change, judgement: judgeChange(change, { ...evidence, ...explanations }) }));
    const last = changes.at(-1);
    if (changes.length < pageLimit || last === undefined) return;
    position = { ms: last.ms, id: last.id };
  }
}
