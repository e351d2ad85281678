/**
 * Queries an entire dashboard: its variables, then its panels and annotations, each of which is returned as soon as it
 * is complete.
 */

import { RequestResults } from '../../../queries/batch/results.ts';
import { createValidationError } from '../../../queries/errors.ts';
import type { QueryReader } from '../../../queries/promql/query-reader.ts';
import { parseRange, type Range } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { buildPlatformVariables } from '../../../queries/variables/platform.ts';
import { listReferencedNames } from '../../../queries/variables/references.ts';
import { type ResolvedVariables, resolveVariables } from '../../../queries/variables/resolve.ts';
import type { ZoneClock } from '../../../runtime/calendar.ts';
import { getWallClock } from '../../../runtime/wall-clock.ts';
import type { DashboardFields, Panel } from '../document.ts';
import { type AnnotationContext, queryAnnotation } from './annotations.ts';
import { yieldAsCompleted } from './as-they-end.ts';
import type { DashboardLine, DashboardQuery, DashboardResponse } from './dashboard-query.ts';
import { queryPanel } from './panel.ts';
import { collectRepeats, createPanelCopies, type PanelCopy } from './repeats.ts';

/** Caller of the query, with the caller's own settings. */
export interface DashboardContext
  extends Pick<AnnotationContext, 'saved' | 'names' | 'getFault' | 'events' | 'shownAs'> {
  readonly reader: QueryReader;
  /** Aborts pending queries; complete results are returned. */
  readonly signal: AbortSignal;
}

/** Maximum number of concurrent panels. Concurrent panels can share a batch of queries. */
const maxConcurrentPanels = 50;

interface DashboardSelection {
  readonly range: Range;
  readonly panels: readonly Panel[];
  readonly annotations: DashboardFields['annotations'];
}

const selectPanels = ({ panels }: DashboardFields, panelIds: readonly string[] | undefined): readonly Panel[] => {
  if (panelIds === undefined) return panels;
  const panelIdSet = new Set(panelIds);
  for (const id of panelIdSet)
    if (!panels.some((panel) => panel.id === id))
      throw createValidationError('panels', `the panel ${id} does not exist`);
  return panels.filter(({ id }) => panelIdSet.has(id));
};

const selectAnnotations = (
  { annotations }: DashboardFields,
  question: DashboardQuery,
): DashboardFields['annotations'] => {
  const panelIds = question.panels;
  if (!question.annotations) return [];
  return annotations.filter(
    ({ enabled, panels }) =>
      enabled &&
      (panelIds === undefined ||
        panelIds.length === 0 ||
        panels === null ||
        panelIds.some((id) => panels.ids.includes(id) === (panels.mode === 'only'))),
  );
};

/** Returns the clock of the dashboard's time zone; undefined for that of the browser, which requests resolve. */
const getDashboardClock = ({ time: { zone } }: DashboardFields): ZoneClock | undefined =>
  zone === 'browser' ? undefined : getWallClock(zone);

const selectParts = (document: DashboardFields, question: DashboardQuery, nowMs: number): DashboardSelection => ({
  range: parseRange(
    { from: question.from ?? document.time.from, to: question.to ?? document.time.to },
    nowMs,
    getDashboardClock(document),
  ),
  panels: selectPanels(document, question.panels),
  annotations: selectAnnotations(document, question),
});

/** Returns the names of the variables that the selected panels and annotations use. */
const findUsedVariables = (
  { panels, annotations }: DashboardSelection,
  { variables, sections }: DashboardFields,
  saved: unknown,
): string[] => {
  const repeats = panels.flatMap((panel) => collectRepeats(panel, sections).map(({ variable }) => variable));
  const usedNames = new Set([...repeats, ...listReferencedNames(JSON.stringify([panels, annotations, saved]))]);
  return variables.flatMap(({ name, kind }) => (usedNames.has(name) || kind === 'filters' ? [name] : []));
};

const resolveSelection = (
  selection: DashboardSelection,
  document: DashboardFields,
  question: DashboardQuery,
  { saved, names, signal }: DashboardContext,
  results: RequestResults,
): Promise<ResolvedVariables> => {
  const { range, panels } = selection;
  const isAll = question.panels === undefined || question.panels.length === 0;
  const platform = { fromMs: Number(range.from / 1_000_000n), toMs: Number(range.to / 1_000_000n), names };
  return resolveVariables(document.variables, results.reading, {
    range,
    signal,
    selectedValues: question.variables,
    platform: buildPlatformVariables(platform),
    ...(!isAll && {
      requestedNames: findUsedVariables(selection, document, [...saved.values()]),
      listedNames: panels.flatMap((panel) => collectRepeats(panel, document.sections).map(({ variable }) => variable)),
    }),
  });
};

const copyPanels = (
  { panels }: DashboardSelection,
  document: DashboardFields,
  resolved: ResolvedVariables,
): PanelCopy[] => panels.flatMap((panel) => createPanelCopies(panel, document.sections, resolved));

/** Yields lines with the positions of panels and annotations. */
async function* streamIndexedLines(
  document: DashboardFields,
  question: DashboardQuery,
  caller: DashboardContext,
): AsyncGenerator<readonly [at: number, line: DashboardLine]> {
  const { reader, signal } = caller;
  const selection = selectParts(document, question, reader.nowMs);
  const results = new RequestResults(reader, signal);
  const resolved = await resolveSelection(selection, document, question, caller, results);
  const { range } = selection;
  const variables = resolved.items.map(({ options, selected, partial, ...item }) => ({
    ...item,
    options: [...options],
    selected: [...selected],
    partial: [...partial],
  }));
  yield [0, { from: formatTime(range.from), to: formatTime(range.to), variables }];
  const clock = getDashboardClock(document);
  const context: AnnotationContext = { ...caller, question, range, clock, results, ...resolved };
  const tasks: (() => Promise<DashboardLine>)[] = [
    ...copyPanels(selection, document, resolved).map((panelCopy) => () => queryPanel(panelCopy, context)),
    ...selection.annotations.map((each) => async () => ({ annotation: await queryAnnotation(each, context) })),
  ];
  yield* yieldAsCompleted(tasks, maxConcurrentPanels);
  yield [tasks.length, { cost: results.cost }];
}

/**
 * Yields the result of a dashboard query, line by line. Rejects if nothing can be queried because of an invalid range.
 */
export async function* streamDashboard(
  document: DashboardFields,
  question: DashboardQuery,
  caller: DashboardContext,
): AsyncGenerator<DashboardLine> {
  for await (const [, line] of streamIndexedLines(document, question, caller)) yield line;
}

/** Returns the result as one response, in panel order. */
export const runDashboardQuery = async (
  document: DashboardFields,
  question: DashboardQuery,
  caller: DashboardContext,
): Promise<DashboardResponse> => {
  const indexedResults: (readonly [at: number, line: DashboardLine])[] = [];
  for await (const entry of streamIndexedLines(document, question, caller)) indexedResults.push(entry);
  const lines = indexedResults.sort(([left], [right]) => left - right).map(([, line]) => line);
  const edgeLines = lines.filter((line) => 'from' in line || 'cost' in line);
  return {
    ...(Object.assign({}, ...edgeLines) as Pick<DashboardResponse, 'from' | 'to' | 'variables' | 'cost'>),
    items: lines.filter((line) => 'panelId' in line),
    annotations: lines.flatMap((line) => ('annotation' in line ? [line.annotation] : [])),
  };
};
