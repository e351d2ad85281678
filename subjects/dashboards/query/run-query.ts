/**
 * Queries an entire dashboard: its variables, then its panels and annotations, each of which is returned as soon as it
 * is complete.
 */

import { Results } from '../../../queries/batch/results.ts';
import { invalid } from '../../../queries/errors.ts';
import type { QueryReading } from '../../../queries/promql/reading.ts';
import { parseRange, type Range } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { platformVariables } from '../../../queries/variables/platform.ts';
import { namesUsed } from '../../../queries/variables/references.ts';
import { type Resolved, resolveVariables } from '../../../queries/variables/resolve.ts';
import type { DashboardFields, Panel } from '../document.ts';
import { type AnnotationContext, queryAnnotation } from './annotations.ts';
import { yieldAsCompleted } from './as-they-end.ts';
import { queryPanel } from './panel.ts';
import type { DashboardAnswer, DashboardLine, DashboardQuestion } from './question.ts';
import { repeatsOf, type ShownPanel, shownPanels } from './repeats.ts';

/** Caller of the query, with the caller's own settings. */
export interface DashboardContext
  extends Pick<AnnotationContext, 'saved' | 'names' | 'faultOf' | 'events' | 'shownAs'> {
  readonly reading: QueryReading;
  /** Aborts pending queries; complete results are returned. */
  readonly signal: AbortSignal;
}

/** Maximum number of concurrent panels: those of one round can share a batch. */
const panelsAtOnce = 50;

interface DashboardSelection {
  readonly range: Range;
  readonly panels: readonly Panel[];
  readonly annotations: DashboardFields['annotations'];
}

const panelsOf = ({ panels }: DashboardFields, panelIds: readonly string[] | undefined): readonly Panel[] => {
  if (panelIds === undefined) return panels;
  const names = new Set(panelIds);
  for (const id of names)
    if (!panels.some((panel) => panel.id === id)) throw invalid('panels', `the panel ${id} does not exist`);
  return panels.filter(({ id }) => names.has(id));
};

const annotationsOf = (
  { annotations }: DashboardFields,
  question: DashboardQuestion,
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

const selectionOf = (document: DashboardFields, question: DashboardQuestion, nowMs: number): DashboardSelection => ({
  range: parseRange({ from: question.from ?? document.time.from, to: question.to ?? document.time.to }, nowMs),
  panels: panelsOf(document, question.panels),
  annotations: annotationsOf(document, question),
});

/** Names of the variables in use, if only some panels are queried. */
const usedBy = (
  { panels, annotations }: DashboardSelection,
  { variables, sections }: DashboardFields,
  saved: unknown,
): string[] => {
  const repeats = panels.flatMap((panel) => repeatsOf(panel, sections).map(({ variable }) => variable));
  const used = new Set([...repeats, ...namesUsed(JSON.stringify([panels, annotations, saved]))]);
  return variables.flatMap(({ name, kind }) => (used.has(name) || kind === 'filters' ? [name] : []));
};

const resolvedFor = (
  selection: DashboardSelection,
  document: DashboardFields,
  question: DashboardQuestion,
  { saved, names, signal }: DashboardContext,
  results: Results,
): Promise<Resolved> => {
  const { range, panels } = selection;
  const isAll = question.panels === undefined || question.panels.length === 0;
  const platform = { fromMs: Number(range.from / 1_000_000n), toMs: Number(range.to / 1_000_000n), names };
  return resolveVariables(document.variables, results.reading, {
    range,
    signal,
    chosen: question.variables,
    platform: platformVariables(platform),
    ...(!isAll && {
      only: usedBy(selection, document, [...saved.values()]),
      listed: panels.flatMap((panel) => repeatsOf(panel, document.sections).map(({ variable }) => variable)),
    }),
  });
};

const panelsShown = ({ panels }: DashboardSelection, document: DashboardFields, resolved: Resolved): ShownPanel[] =>
  panels.flatMap((panel) => shownPanels(panel, document.sections, resolved));

/** Lines with the positions of panels and annotations */
async function* placedLines(
  document: DashboardFields,
  question: DashboardQuestion,
  from: DashboardContext,
): AsyncGenerator<readonly [at: number, line: DashboardLine]> {
  const { reading, signal } = from;
  const selection = selectionOf(document, question, reading.nowMs);
  const results = new Results(reading, signal);
  const resolved = await resolvedFor(selection, document, question, from, results);
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
    ...panelsShown(selection, document, resolved).map((shown) => () => queryPanel(shown, context)),
    ...selection.annotations.map((each) => async () => ({ annotation: await queryAnnotation(each, context) })),
  ];
  yield* yieldAsCompleted(tasks, panelsAtOnce);
  yield [tasks.length, { cost: results.cost }];
}

/**
 * Yields the result of a dashboard query, line by line. Rejects if nothing can be queried because of an invalid range,
 * or a cycle of variables.
 */
export async function* dashboardLines(
  document: DashboardFields,
  question: DashboardQuestion,
  from: DashboardContext,
): AsyncGenerator<DashboardLine> {
  for await (const [, line] of placedLines(document, question, from)) yield line;
}

/** Returns the result as one response, in panel order. */
export const dashboardAnswer = async (
  document: DashboardFields,
  question: DashboardQuestion,
  from: DashboardContext,
): Promise<DashboardAnswer> => {
  const placed: (readonly [at: number, line: DashboardLine])[] = [];
  for await (const one of placedLines(document, question, from)) placed.push(one);
  const lines = placed.sort(([one], [other]) => one - other).map(([, line]) => line);
  const ends = lines.filter((line) => 'from' in line || 'cost' in line);
  return {
    ...(Object.assign({}, ...ends) as Pick<DashboardAnswer, 'from' | 'to' | 'variables' | 'cost'>),
    items: lines.filter((line) => 'panelId' in line),
    annotations: lines.flatMap((line) => ('annotation' in line ? [line.annotation] : [])),
  };
};
