/** Log records of one pattern: exactly those that are displayed with its id */

import { OTHER_ID } from '../../queries/log-patterns/pattern-id.ts';
import { readForms } from '../../queries/log-patterns/pattern-ids.ts';
import { type LogPage, type LogPageRequest, readLogsOfRange } from '../../queries/logs/pages.ts';
import type { Condition } from '../../queries/records.ts';
import type { LogWithPosition } from '../../queries/signals/log-record.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { buildBodyHasAllWords, buildJsonBodyHasAll } from '../../schemas/tables/search.ts';

/** Maximum number of words in the search for a body; the longest are the rarest */
const maxWords = 8;
const maxWordLength = 64;
/**
 * Maximum number of records that are read for one page. If fewer of them match the pattern than the page can contain,
 * the page is short and there is a next page.
 */
const maxRecordsRead = 20_000;
const minBatchSize = 100;
const maxBatchSize = 2_000;

const variablePattern = /<(?:\*|[a-z]+)>/g;

/**
 * Returns SQL that is true for every body of a template and for few others, based on its words. Words with digits are
 * omitted, because templates show keys with masked digits; so are words that may be cut.
 */
const buildTemplateCondition = (template: string): string => {
  const isJson = template.startsWith('{');
  const words = (template.replace(variablePattern, ' ').match(/[0-9A-Za-z\u0080-\u{10ffff}]+/gu) ?? [])
    .flatMap((word) => (isJson ? (word.match(/[A-Za-z]+/g) ?? []) : /[0-9\ufffd]/.test(word) ? [] : [word]))
    .filter(({ length }) => length <= maxWordLength);
  const rarestWords = [...new Set(words)].toSorted((left, right) => right.length - left.length).slice(0, maxWords);
  if (isJson) return buildJsonBodyHasAll(rarestWords);
  return rarestWords.length === 0 ? 'true' : buildBodyHasAllWords(rarestWords.join(' '));
};

/** A surviving pattern with its services and template; the requested id may have been an alias */
export interface SurvivingPattern {
  readonly id: string;
  readonly template: string;
  readonly services: readonly string[];
}

interface StructureRow {
  readonly service: string;
  readonly structure: number;
}

/**
 * Returns the pattern of an id: itself if it survives in any service, otherwise the one into which most services merged
 * it.
 */
export const findSurvivingPattern = async (
  columns: TenantColumns,
  id: string,
): Promise<SurvivingPattern | undefined> => {
  const rows = await columns.query<StructureRow>(
    `SELECT service, structure FROM log_patterns WHERE tenant_id = {tenant:String} AND pattern_id = {id:String}
    GROUP BY service, structure ORDER BY max(last_seen) DESC, service LIMIT 1000`,
    { id },
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const services = rows.map(({ service }) => service);
  const forms = await readForms(
    columns,
    services,
    rows.map(({ structure }) => structure),
  );
  const resolved = rows.map(({ service, structure }) => forms.get(`${structure} ${service}`)?.resolve(id) ?? id);
  const survivor = resolved.includes(id) ? id : findMostFrequent(resolved);
  const [patternRow] = await columns.query<{ template: string; services: string[] }>(
    `SELECT argMax(template, last_seen) AS template, groupUniqArray(1000)(service) AS services FROM log_patterns
    WHERE tenant_id = {tenant:String} AND pattern_id = {id:String} GROUP BY pattern_id`,
    { id: survivor },
  );
  return patternRow && { id: survivor, ...patternRow };
};

const findMostFrequent = (ids: readonly string[]): string => {
  const groups = [...Map.groupBy(ids, (id) => id)];
  const [[id] = ['']] = groups.sort(
    ([leftId, leftIds], [rightId, rightIds]) => rightIds.length - leftIds.length || (leftId < rightId ? -1 : 1),
  );
  return id;
};

/**
 * Returns records of a pattern that match a condition, up to `limit`. Its words find candidates, of which those
 * displayed with its id are returned.
 */
export const readPatternLogs = async (
  columns: TenantColumns,
  patternId: string,
  condition: Condition,
  { limit, after, range, order }: LogPageRequest,
): Promise<LogPage> => {
  const pattern = await findSurvivingPattern(columns, patternId);
  if (pattern === undefined) return { found: [], nextPosition: undefined };
  const words = pattern.id === OTHER_ID ? 'true' : buildTemplateCondition(pattern.template);
  const patternCondition = {
    ...condition,
    sql: `${condition.sql} AND service IN {patternServices:Array(String)} AND ${words}`,
    parameters: { ...condition.parameters, patternServices: pattern.services },
  };
  const matchingLogs: LogWithPosition[] = [];
  let position = after;
  let batchSize = Math.min(maxBatchSize, Math.max(minBatchSize, limit + 1));
  for (let readCount = 0; readCount < maxRecordsRead; ) {
    const rows = await readLogsOfRange(columns, patternCondition, { limit: batchSize, after: position, range, order });
    for (const row of rows) {
      if (row.record.patternId !== pattern.id) continue;
      if (matchingLogs.length === limit) return { found: matchingLogs, nextPosition: matchingLogs.at(-1)?.position };
      matchingLogs.push(row);
    }
    if (rows.length < batchSize) return { found: matchingLogs, nextPosition: undefined };
    position = rows.at(-1)?.position;
    readCount += rows.length;
    batchSize = Math.min(maxBatchSize, batchSize * 2);
  }
  return { found: matchingLogs, nextPosition: position };
};
