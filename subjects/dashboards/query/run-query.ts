/**
 * Queries an entire dashboard: its variables, then its panels and annotations, each of which is returned as soon as it
 * is complete.
 */

import { RequestResults } from '../../../queries/batch/results.ts';
import { invalid } from '../../../queries/errors.ts';
import type { QueryReading } from '../../../queries/promql/reading.ts';
import { parseRange, type Range } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { buildPlatformVariables } from '../../../queries/variables/platform.ts';
import { listReferencedNames } from '../../../queries/variables/references.ts';
import { type ResolvedVariables, resolveVariables } from '../../../queries/variables/resolve.ts';
import type { DashboardFields, Panel } from '../document.ts';
import { type AnnotationContext, queryAnnotation } from './annotations.ts';
import { yieldAsCompleted } from './as-they-end.ts';
import { queryPanel } from './panel.ts';
import type { DashboardLine, DashboardQuery, DashboardResponse } from './question.ts';
import { collectRepeats, createPanelCopies, type PanelCopy } from './repeats.ts';

/** Caller of the query, with the caller's own settings. */
export interface DashboardContext
  extends Pick<AnnotationContext, 'saved' | 'names' | 'faultOf' | 'events' | 'shownAs'> {
  readonly reading: QueryReading;
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
  const names = new Set(panelIds);
  for (const id of names)
    if (!panels.some((panel) => panel.id === id)) throw invalid('panels', `the panel ${id} does not exist`);
  return panels.filter(({ id }) => names.has(id));
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

const selectParts = (document: DashboardFields, question: DashboardQuery, nowMs: number): DashboardSelection => ({
  range: parseRange({ from: question.from ?? document.time.from, to: question.to ?? document.time.to }, nowMs),
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
  const used = new Set([...repeats, ...listReferencedNames(JSON.stringify([panels, annotations, saved]))]);
  return variables.flatMap(({ name, kind }) => (used.has(name) || kind === 'filters' ? [name] : []));
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
    chosenValues: question.variables,
    platform: buildPlatformVariables(platform),
    ...(!isAll && {
      only: findUsedVariables(selection, document, [...saved.values()]),
      listedNames: panels.flatMap((panel) => collectRepeats(panel, document.sections).map(({ variable }) => variable)),
    }),
  });
};

const copyPanels = (
  { panels }: DashboardSelection,
  document: DashboardFields,
  resolved: ResolvedVariables,
): PanelCopy[] => panels.flatMap((panel) => createPanelCopies(panel, document.sections, resolved));

/** Lines with the positions of panels and annotations */
async function* indexedLines(
  document: DashboardFields,
  question: DashboardQuery,
  from: DashboardContext,
): AsyncGenerator<readonly [at: number, line: DashboardLine]> {
  const { reading, signal } = from;
  const selection = selectParts(document, question, reading.nowMs);
  const results = new RequestResults(reading, signal);
  const resolved = await resolveSelection(selection, document, question, from, results);
  const { range } = selection;
  const variables = resolved.items.map(({ options, selected, partial, ...item }) => ({
    ...item,
    options: [...options],
    selected: [...selected],
    partial: [...partial],
  }));
  yield [0, { from: formatTime(range.from), to: formatTime(range.to), variables }];
  const context: AnnotationContext = { ...from, question, range, results, ...resolved };
  const tasks: (() => Promise<DashboardLine>)[] = [
    ...copyPanels(selection, document, resolved).map((shown) => () => queryPanel(shown, context)),
    ...selection.annotations.map((each) => async () => ({ annotation: await queryAnnotation(each, context) })),
  ];
  yield* yieldAsCompleted(tasks, maxConcurrentPanels);
  yield [tasks.length, { cost: results.cost }];
}

/**
 * Yields the result of a dashboard query, line by line. Rejects if nothing can be queried because of an invalid range,
 * or a cycle of variables.
 */
export async function* streamDashboard(
  document: DashboardFields,
  question: DashboardQuery,
  from: DashboardContext,
): AsyncGenerator<DashboardLine> {
  for await (const [, line] of indexedLines(document, question, from)) yield line;
}

/** Returns the result as one response, in panel order. */
export const runDashboardQuery = async (
  document: DashboardFields,
  question: DashboardQuery,
  from: DashboardContext,
): Promise<DashboardResponse> => {
  const placed: (readonly [at: number, line: DashboardLine])[] = [];
  for await (const one of indexedLines(document, question, from)) placed.push(one);
  const lines = placed.sort(([one], [other]) => one - other).map(([, line]) => line);
  const ends = lines.filter((line) => 'from' in line || 'cost' in line);
  return {
    ...(Object.assign({}, ...ends) as Pick<DashboardResponse, 'from' | 'to' | 'variables' | 'cost'>),
    items: lines.filter((line) => 'panelId' in line),
    annotations: lines.flatMap((line) => ('annotation' in line ? [line.annotation] : [])),
  };
};
