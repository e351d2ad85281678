/** Search state of logs in the URL, and the matching records */
import { computed, signal } from '@preact/signals';
import { PagedList } from '../../client/pages.ts';
import { ApiQuery } from '../../client/query.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { contextCall, histogramCall, type LogRecord, logsCall } from './calls.ts';

/** The first page is small, so that it loads fast */
const [firstPageLimit, laterPageSize] = [200, 1_000];

export const views = { '': 'Records', patterns: 'Patterns', figures: 'Aggregate', live: 'Live tail' } as const;
export type View = keyof typeof views;

export const view = computed<View>(() => {
  const viewName = readParam('view');
  return Object.hasOwn(views, viewName) ? (viewName as View) : '';
});
export const search = computed(() => readParam('search'));
/** Id of the record in the side panel */
export const openId = computed(() => readParam('record'));
export const order = computed(() => (readParam('order') === 'oldest' ? 'oldest' : 'newest'));
/** Field whose values group the record counts */
export const groupBy = computed(() => readParam('by') || 'severity');
/** Id of the pattern by which records are filtered */
export const patternId = computed(() => readParam('pattern'));
export const isWrapped = computed(() => readParam('wrap') === 'on');

/** Parses a list of names from the URL; names that contain a comma are quoted, as in the API. */
const parseNames = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/g)].map(([name, quotedName]) =>
    quotedName === undefined ? name : quotedName.replace(/\\(.)/g, '$1'),
  );
export const formatNames = (names: readonly string[]): string =>
  names.map((name) => (/[",]/.test(name) ? JSON.stringify(name) : name)).join(',');

/** Fields with a column in the list */
export const columns = computed(() => parseNames(readParam('columns')));
export const setColumns = (names: readonly string[]): void =>
  setParams({ columns: formatNames([...new Set(names)]) }, { replace: true });

/** Fields whose values are displayed next to the list */
const defaultFacets = ['severity', 'service'];
export const facets = computed(() => (readParam('facets') === '' ? defaultFacets : parseNames(readParam('facets'))));
export const setFacets = (names: readonly string[]): void =>
  setParams({ facets: formatNames([...new Set(names)]) }, { replace: true });

export const logPages = new PagedList(logsCall, ({ items }) => items as readonly LogRecord[], { laterPageSize });
export const histogram = new ApiQuery(histogramCall);

/** Returns the common query parameters of logs. */
export const getLogQuery = () => ({ ...timeRange.value, ...projectScope.value, search: search.value });

/** Requests the records and their counts. */
export const loadLogs = (): void => {
  logPages.load({
    query: { ...getLogQuery(), limit: firstPageLimit, order: order.value, patternId: patternId.value || undefined },
  });
  // The histogram cannot filter by a pattern, so a pattern filter hides it.
  if (patternId.value === '') histogram.run({ query: { ...getLogQuery(), groupBy: groupBy.value } });
};

export const changeSearch = (text: string): void => setParams({ search: text.trim(), record: '' });
export const openRecord = (id: string): void => setParams({ record: id }, { replace: openId.peek() !== '' });

/** Returns the search with an additional condition that includes or excludes a field value. */
export const addCondition = (
  currentSearch: string,
  name: string,
  value: string,
  { isExcluded = false } = {},
): string => {
  const condition = `${isExcluded ? 'NOT ' : ''}${toCondition(name, value)}`;
  const containsOr = /\bOR\b/.test(currentSearch);
  return currentSearch.trim() === ''
    ? condition
    : `${containsOr ? `(${currentSearch.trim()})` : currentSearch.trim()} ${condition}`;
};

/** Returns all fields of a record: name in search syntax, and value. */
export const listFields = (record: LogRecord): (readonly [name: string, value: unknown])[] => [
  ['service', record.service],
  ['severity', record.severity],
  ['traceId', record.traceId],
  ['spanId', record.spanId],
  ['eventName', record.eventName],
  ['projectId', record.projectId],
  ['scope.name', record.scope.name],
  ...Object.entries(record.attributes).map(([name, value]) => [`attribute.${name}`, value] as const),
  ...Object.entries(record.resource).map(([name, value]) => [`resource.${name}`, value] as const),
];

const topLevelFields = new Set(['service', 'severity', 'traceId', 'spanId', 'eventName', 'projectId']);

/** Returns the value of a record for a search field name. */
export const getFieldValue = (record: LogRecord, name: string): unknown => {
  if (topLevelFields.has(name)) return record[name as keyof LogRecord];
  if (name.startsWith('attribute.')) return record.attributes[name.slice('attribute.'.length)];
  if (name.startsWith('resource.')) return record.resource[name.slice('resource.'.length)];
  return record.attributes[name] ?? record.resource[name];
};

/** Context of a record, inline in the list */
export const context = new ApiQuery(contextCall);
/** Number of context records before and after */
export const contextSize = signal({ before: 10, after: 10 });
export const contextRecordId = computed(() => readParam('context'));
