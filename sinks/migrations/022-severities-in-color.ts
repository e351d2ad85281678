/**
 * Log records without a severity number count as errors if their text indicates one, also in ANSI colors. Existing counts
 * do not change. The view is changed in place, so that no record is missed between two versions.
 */
import type { Migration } from './migration.ts';

const plainText = String.raw`replaceRegexpAll(severity_text, '(?:\\x1b|\\\\u001[bB])(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07\\x1b\\\\]*(?:\\x07|\\x1b\\\\|\\\\u0007|\\\\u001[bB]\\\\\\\\?)|[ -/]*[0-~])?', '')`;
const severityTexts =
  "['trace', 'trace2', 'trace3', 'trace4', 'debug', 'debug2', 'debug3', 'debug4', 'info', 'info2', 'info3', 'info4', 'warn', 'warn2', 'warn3', 'warn4', 'error', 'error2', 'error3', 'error4', 'fatal', 'fatal2', 'fatal3', 'fatal4', 'informational', 'information', 'notice', 'warning', 'err', 'critical', 'crit', 'alert', 'emergency', 'emerg', 'panic']";
const severityNumbers =
  '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 9, 9, 10, 13, 17, 18, 18, 19, 21, 21, 21]';

const logActivity = `SELECT tenant_id, project_id, toDate(received_at) AS day, toDateTime(toStartOfMinute(timestamp), 'UTC') AS minute, service, resource_id,
  count() AS logs, countIf(if(severity_number > 0, severity_number, transform(lower(${plainText}), ${severityTexts}, ${severityNumbers}, 0)) >= 17) AS error_logs,
  min(timestamp) AS first_seen, max(timestamp) AS last_seen
FROM logs GROUP BY tenant_id, project_id, day, minute, service, resource_id`;

export const countColoredErrors: Migration = {
  id: 22,
  name: 'count errors in color',
  async up(columns) {
    await columns.execute(`ALTER TABLE log_activity_view MODIFY QUERY ${logActivity}`);
  },
};
