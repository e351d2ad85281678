/** Writes a dashboard in Grafana's classic form, complete enough for readers that validate its schema. */

import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { DashboardFields, Panel } from '../document.ts';
import { writeAnnotation } from './annotations.ts';
import { writeSettings as writeFields, writeOverrides } from './fields.ts';
import { toFieldsList } from './ledger.ts';
import { getAtPath, lookUp, setAtPath } from './lens.ts';
import { writeLinks } from './links.ts';
import { canBeQueried, writeQueries } from './queries.ts';
import { writeSettings } from './settings.ts';
import {
  areTypedTargets,
  requiredOptions,
  type SelectTyped,
  selectTypedDashboardFields,
  selectTypedPanelFields,
} from './strict.ts';
import { writeTransformations } from './transformations.ts';
import { removeUntyped } from './typed-options.ts';
import { choosesMetrics, writeVariable } from './variables.ts';
import { writeVisual } from './visuals.ts';

type GrafanaObject = Record<string, unknown>;

const schemaVersion = 42;
const columns = 24;

/** Inserts complete members of lists at their positions, and then parts of members. Existing values are preserved. */
const restoreSourceFields = (built: GrafanaObject, sourceFields: Fields, selectTyped: SelectTyped): void => {
  const entries = Object.entries(sourceFields).flatMap(([path, value]) => selectTyped(path, value));
  for (const [path, value] of entries) {
    const [, list = '', index = ''] = /^(.+)\.(\d+)$/.exec(path) ?? [];
    const all = list === '' ? undefined : getAtPath(built, list.split('.'));
    if (Array.isArray(all)) all.splice(Math.min(Number(index), all.length), 0, value);
    else if (list !== '' && all === undefined) setAtPath(built, list.split('.'), [value]);
  }
  for (const [path, value] of entries) if (!/\.\d+$/.test(path)) setAtPath(built, path.split('.'), value);
};

/** Inserts missing required values. */
const fillMissing = (built: GrafanaObject, required: Fields, path: readonly string[]): void => {
  for (const [key, value] of Object.entries(required)) {
    const existing = getAtPath(built, [...path, key]);
    if (isFields(value) && (existing === undefined || isFields(existing))) {
      setAtPath(built, [...path, key], {});
      fillMissing(built, value, [...path, key]);
    } else if (existing === undefined) setAtPath(built, [...path, key], value);
  }
};

const writeTime = ({ range, shift, isHidden }: Panel['time']): Fields => ({
  ...(range !== undefined && { timeFrom: range }),
  ...(shift !== undefined && { timeShift: shift }),
  ...(isHidden && { hideTimeOverride: true }),
});

const writeRepeat = ({ repeat }: Panel): Fields =>
  repeat === null
    ? {}
    : {
        repeat: repeat.variable,
        repeatDirection: repeat.direction === 'down' ? 'v' : 'h',
        ...(repeat.direction === 'across' && { maxPerRow: repeat.perRow }),
      };

/** The queries of a panel, as text for people. */
const describeQueries = (panel: Panel): string =>
  panel.queries
    .map(
      ({ name, query, savedQueryId }) =>
        `${name}: ${query === undefined ? `saved query ${savedQueryId}` : JSON.stringify(query)}`,
    )
    .join('\n');

/** A text panel that replaces a panel without an equivalent in Grafana. */
const createTextPanel = (panel: Panel): Fields => {
  const queryTexts = panel.visual.kind === 'placeholder' ? panel.visual.queries.join('\n') : describeQueries(panel);
  const content = `Grafana has no equivalent of the panel type ${panel.visual.kind}.`;
  return {
    type: 'text',
    options: {
      mode: 'markdown',
      content: queryTexts === '' ? content : `${content}\n\n    ${queryTexts.replaceAll('\n', '\n    ')}`,
    },
  };
};

const writeDrawing = (panel: Panel, datasource: object): GrafanaObject => {
  const visual = panel.visual.kind === 'placeholder' || !canBeQueried(panel) ? undefined : writeVisual(panel.visual);
  if (visual === undefined) return hasSourcePanel(panel) ? {} : { ...createTextPanel(panel) };
  const targets = writeQueries(panel, visual['type'], datasource);
  const transformations = writeTransformations(panel.transformations);
  return {
    ...visual,
    ...(targets.length > 0 && { datasource, targets }),
    ...(transformations.length > 0 && { transformations }),
    fieldConfig: { defaults: writeFields(panel.fields), overrides: writeOverrides(panel.overrides) },
    ...(panel.minStep !== undefined && { interval: panel.minStep }),
  };
};
/** Returns whether a placeholder contains the original Grafana panel. */
const hasSourcePanel = ({ visual, imported }: Panel): boolean =>
  visual.kind === 'placeholder' &&
  typeof imported?.unmapped['type'] === 'string' &&
  areTypedTargets(imported.unmapped['targets'] ?? []);

const writePanel = (panel: Panel, id: number, y: number, datasource: object): GrafanaObject => {
  const { title, description, transparent, links, place, time, maxDataPoints: maxPoints } = panel;
  const built: GrafanaObject = {
    ...writeDrawing(panel, datasource),
    id,
    title,
    gridPos: { x: place.x, y, w: place.width, h: place.height },
    ...(description !== '' && { description }),
    ...(transparent && { transparent }),
    ...(links.length > 0 && { links: writeLinks(links) }),
    ...writeTime(time),
    ...(maxPoints !== undefined && { maxDataPoints: maxPoints }),
    ...writeRepeat(panel),
  };
  // Fields that Grafana's schema lacks are removed below; the hidden variable stores them.
  restoreSourceFields(built, structuredClone(panel.imported?.unmapped ?? {}), selectTypedPanelFields);
  removeUntyped(built);
  fillMissing(built, lookUp(requiredOptions, String(built['type'])) ?? {}, ['options']);
  fillMissing(built, { defaults: {}, overrides: [] }, ['fieldConfig']);
  if (isFields(getAtPath(built, ['fieldConfig', 'defaults', 'thresholds'])))
    fillMissing(built, { mode: 'absolute', steps: [] }, ['fieldConfig', 'defaults', 'thresholds']);
  for (const step of toFieldsList(getAtPath(built, ['fieldConfig', 'defaults', 'thresholds', 'steps'])))
    fillMissing(step as GrafanaObject, { value: null }, []);
  if (isFields(getAtPath(built, ['options', 'code'])))
    fillMissing(built, { language: 'plaintext', showLineNumbers: false, showMiniMap: false }, ['options', 'code']);
  return built;
};

/** Numbers of panels: those in their IDs, then consecutive numbers. */
export const assignPanelNumbers = (panels: readonly Panel[]): ReadonlyMap<string, number> => {
  const panelNumbers = panels.map(({ id }) => Number(/^panel-(0|[1-9]\d{0,8})$/.exec(id)?.[1] ?? NaN));
  let next = Math.max(0, ...panelNumbers.filter(Number.isFinite)) + 1;
  return new Map(
    panels.map(({ id }, index) => [id, Number.isFinite(panelNumbers[index]) ? (panelNumbers[index] ?? 0) : next++]),
  );
};

/** Sections from top to bottom, with nested sections after their parents. */
export const orderSections = ({ sections }: DashboardFields): DashboardFields['sections'] => {
  const listSectionsWithin = (within: string | null): DashboardFields['sections'] =>
    sections
      .filter((section) => section.within === within)
      .flatMap((section) => [section, ...listSectionsWithin(section.id)]);
  return listSectionsWithin(null);
};

const getBottom = (panels: readonly Panel[]): number =>
  Math.max(0, ...panels.map(({ place }) => place.y + place.height));

const writePanels = (
  document: DashboardFields,
  numbers: ReadonlyMap<string, number>,
  datasource: object,
): GrafanaObject[] => {
  const panelsBySection = Map.groupBy(document.panels, ({ place }) => place.section);
  const write = (panels: readonly Panel[], top: number): GrafanaObject[] =>
    panels.map((panel) => writePanel(panel, numbers.get(panel.id) ?? 0, top + panel.place.y, datasource));
  const topPanels = panelsBySection.get(null) ?? [];
  const writtenPanels = write(topPanels, 0);
  let y = getBottom(topPanels);
  let id = Math.max(0, ...numbers.values()) + 1;
  for (const section of orderSections(document)) {
    const panels = panelsBySection.get(section.id) ?? [];
    const sectionPanels = write(panels, y + 1);
    writtenPanels.push({
      type: 'row',
      id: id++,
      title: section.title,
      collapsed: section.folded,
      gridPos: { x: 0, y, w: columns, h: 1 },
      panels: section.folded ? sectionPanels : [],
      ...(section.repeat !== null && { repeat: section.repeat.variable }),
    });
    if (!section.folded) writtenPanels.push(...sectionPanels);
    y += 1 + getBottom(panels);
  }
  return writtenPanels;
};

/** Returns the data source variable of the imported dashboard; undefined if it had none. */
const findStoredSourceVariable = ({ imported }: DashboardFields): Fields | undefined => {
  const sourceVariables = Object.entries(imported?.unmapped ?? {}).filter(([path]) =>
    /^templating\.list\.\d+$/.test(path),
  );
  const [storedVariable] = sourceVariables.flatMap(([path, value]) =>
    isFields(value) && choosesMetrics(value)
      ? selectTypedDashboardFields(path, value).map(([, part]) => part as Fields)
      : [],
  );
  return storedVariable;
};

const createSourceVariable = ({ variables }: DashboardFields): Fields => {
  const usedNames = new Set(variables.map(({ name }) => name));
  const name =
    ['datasource', 'ds_prometheus', 'oiq_datasource'].find((candidate) => !usedNames.has(candidate)) ?? 'oiq_ds';
  return { type: 'datasource', name, label: 'Data source', query: 'prometheus' };
};

/**
 * Converts a dashboard to Grafana's classic JSON, without the data that Grafana's form lacks. Panels without an
 * equivalent become text panels.
 */
export const writeDashboard = (document: DashboardFields, id: string): GrafanaObject => {
  // Stored source fields become part of the output.
  const copy = structuredClone(document);
  const storedSource = findStoredSourceVariable(copy);
  const source = storedSource ?? createSourceVariable(copy);
  const datasource = { type: 'prometheus', uid: `\${${String(source['name'])}}` };
  const numbers = assignPanelNumbers(copy.panels);
  const variables = copy.variables.flatMap((variable) => writeVariable(variable, datasource) ?? []);
  const annotations = copy.annotations.flatMap((annotation) => writeAnnotation(annotation, datasource, numbers) ?? []);
  const built: GrafanaObject = {
    ...writeSettings(copy),
    uid: id,
    schemaVersion,
    panels: writePanels(copy, numbers, datasource),
    templating: { list: variables },
    annotations: { list: annotations },
  };
  restoreSourceFields(built, copy.imported?.unmapped ?? {}, selectTypedDashboardFields);
  if (storedSource === undefined) (getAtPath(built, ['templating', 'list']) as unknown[]).unshift(source);
  return built;
};
