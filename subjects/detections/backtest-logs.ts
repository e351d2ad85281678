/** Backtests over stored logs, in threads. */
import { type ExportQuery, exportRecords } from '../../queries/logs/export.ts';
import type { Reading } from '../../queries/reading.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import { storedRecord } from './backtest.ts';
import type { DeploymentSource } from './deployed.ts';
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
  reading: Reading,
  { toDeploy, ...run }: RuleRun & { readonly toDeploy: DeploymentSource },
  question: Omit<ExportQuery, 'order'>,
  onPage: (page: BacktestPage) => boolean,
): Promise<boolean> => {
  try {
    return await backtestThreads.run(toDeploy, run, async (rules) => {
      for await (const { items } of exportRecords(reading, { ...question, order: 'oldest' }))
        for (let from = 0; from < items.length; from += recordsPerRequest) {
          const records = items.slice(from, from + recordsPerRequest).map((item) => storedRecord(run.tenantId, item));
          if (!onPage({ records: records.length, signals: await rules.signalsOf(records) })) return false;
        }
      return onPage({ records: 0, signals: await rules.end() });
    });
  } catch (error) {
    if (error instanceof RulesTimeoutError) return false;
    throw error;
  }
};
