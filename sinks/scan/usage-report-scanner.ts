import { UsageReport } from '../../schemas/topics.ts';
import type { Scanner } from './scanner.ts';
import { emptyUsageRow, UsageColumns } from './usage-columns.ts';

/**
 * Returns the scanner of the usage sink. It does not use `defineValueSink`: a report may be published twice, so its rows
 * must not depend on the position.
 */
export const createUsageReportScanner = (): Scanner => {
  const usage = new UsageColumns();
  return {
    tables: [usage.rows],
    landedHours: [],
    scan({ value }): void {
      const { id, rows } = UsageReport.parse(JSON.parse(Buffer.from(value).toString('utf8')));
      for (const { tenantId: tenant_id, projectId: project_id, keyId: key_id, ...row } of rows)
        usage.push({ ...emptyUsageRow, ...row, tenant_id, project_id, key_id, outcome: 'rejected', id });
    },
    discardRow() {},
  };
};
