/** Backtests over stored logs, in threads. */
import { type ExportQuery, exportRecords } from '../../queries/logs/export.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import { toDetectedRecord } from './backtest.ts';
import type { DeploymentSource } from './deployment.ts';
import { type RuleRun, RulesTimeoutError, RuleThreads } from './rule-threads.ts';

/**
 * Records per request to a worker. The results of a request that has started count even if the time limit has passed.
 */
const recordsPerRequest = 100;

const backtestThreads = new RuleThreads();

/** A page of a backtest's results. */
export interface BacktestPage {
  readonly records: number;
  readonly signals: readonly DetectionSignal[];
}

/**
 * Evaluates the stored records of a query, oldest first, and passes their signals page by page. The last page includes
 * those of windows that are still open. Stops early if `onPage` returns `false`. Returns whether the backtest
 * completed, that is, was neither stopped nor out of time.
 */
export const backtestLogs = async (
  reader: TenantReader,
  { toDeploy, ...ruleRun }: RuleRun & { readonly toDeploy: DeploymentSource },
  exportQuery: Omit<ExportQuery, 'order'>,
  onPage: (page: BacktestPage) => boolean,
): Promise<boolean> => {
  try {
    return await backtestThreads.run(toDeploy, ruleRun, async (rules) => {
      for await (const { items } of exportRecords(reader, { ...exportQuery, order: 'oldest' }))
        for (let start = 0; start < items.length; start += recordsPerRequest) {
          const records = items
            .slice(start, start + recordsPerRequest)
            .map((item) => toDetectedRecord(ruleRun.tenantId, item));
          if (!onPage({ records: records.length, signals: await rules.detectSignals(records) })) return false;
        }
      return onPage({ records: 0, signals: await rules.endWindows() });
    });
  } catch (error) {
    if (error instanceof RulesTimeoutError) return false;
    throw error;
  }
};
