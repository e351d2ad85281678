/** Exports a dashboard in Grafana's classic form, complete enough for readers that validate its schema. */

import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { DashboardFields, Panel } from '../document.ts';
import { writeAnnotation } from './annotations.ts';
import { writeSettings as writeFields, writeOverrides } from './fields.ts';
import { readGrafana } from './import.ts';
import { toFieldsList } from './ledger.ts';
import { getAtPath, lookUp, setAtPath } from './lens.ts';
import { writeLinks } from './links.ts';
import { canBeQueried, writeQueries } from './queries.ts';
import { writeSettings } from './settings.ts';
import { isValidDashboardField, isValidPanelField, requiredOptions } from './strict.ts';
import { writeTransformations } from './transformations.ts';
import { dataToExport, hiddenVariableName } from './travelling.ts';
import { removeUntyped } from './typed-options.ts';
import { choosesMetrics, writeVariable } from './variables.ts';
import { writeVisual } from './visuals.ts';

type GrafanaObject = Record<string, unknown>;

const schemaVersion = 42;
const columns = 24;

/** Inserts complete members of lists at their positions, and then parts of members. Existing values are preserved. */
const restoreSourceFields = (
  built: GrafanaObject,
  sourceFields: Fields,
  fits: (path: string, value: unknown) => boolean,
): void => {
  const entries = Object.entries(sourceFields).filter(([path, value]) => fits(path, value));
  for (const [path, value] of entries) {
    const [, list = '', place = ''] = /^(.+)\.(\d+)$/.exec(path) ?? [];
    const all = list === '' ? undefined : getAtPath(built, list.split('.'));
    if (Array.isArray(all)) all.splice(Math.min(Number(place), all.length), 0, value);
    else if (list !== '' && all === undefined) setAtPath(built, list.split('.'), [value]);
  }
  for (const [path, value] of entries) if (!/\.\d+$/.test(path)) setAtPath(built, path.split('.'), value);
};

/** Inserts missing required values. */
const fillMissing = (built: GrafanaObject, needed: Fields, path: readonly string[]): void => {
  for (const [key, value] of Object.entries(needed)) {
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
  const questions = panel.visual.kind === 'placeholder' ? panel.visual.queries.join('\n') : describeQueries(panel);
  const content = `Grafana has no equivalent of the panel type ${panel.visual.kind}.`;
  return {
    type: 'text',
    options: {
      mode: 'markdown',
      content: questions === '' ? content : `${content}\n\n    ${questions.replaceAll('\n', '\n    ')}`,
    },
  };
};

const writeDrawing = (panel: Panel, datasource: object): GrafanaObject => {
  const written = panel.visual.kind === 'placeholder' || !canBeQueried(panel) ? undefined : writeVisual(panel.visual);
  if (written === undefined) return hasSourcePanel(panel) ? {} : { ...createTextPanel(panel) };
  const targets = writeQueries(panel, written['type'], datasource);
  const transformations = writeTransformations(panel.transformations);
  return {
    ...written,
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
  isValidPanelField('targets', imported.unmapped['targets'] ?? []);

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
  restoreSourceFields(built, structuredClone(panel.imported?.unmapped ?? {}), isValidPanelField);
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
const assignPanelNumbers = (panels: readonly Panel[]): ReadonlyMap<string, number> => {
  const own = panels.map(({ id }) => Number(/^panel-(0|[1-9]\d{0,8})$/.exec(id)?.[1] ?? NaN));
  let next = Math.max(0, ...own.filter(Number.isFinite)) + 1;
  return new Map(panels.map(({ id }, index) => [id, Number.isFinite(own[index]) ? (own[index] ?? 0) : next++]));
};

/** Sections from top to bottom, with nested sections after their parents. */
const orderSections = ({ sections }: DashboardFields): DashboardFields['sections'] => {
  const below = (within: string | null): DashboardFields['sections'] =>
    sections.filter((one) => one.within === within).flatMap((one) => [one, ...below(one.id)]);
  return below(null);
};

const bottomOf = (panels: readonly Panel[]): number =>
  Math.max(0, ...panels.map(({ place }) => place.y + place.height));

const writePanels = (
  document: DashboardFields,
  numbers: ReadonlyMap<string, number>,
  datasource: object,
): GrafanaObject[] => {
  const inSection = Map.groupBy(document.panels, ({ place }) => place.section);
  const write = (panels: readonly Panel[], top: number): GrafanaObject[] =>
    panels.map((panel) => writePanel(panel, numbers.get(panel.id) ?? 0, top + panel.place.y, datasource));
  const top = inSection.get(null) ?? [];
  const written = write(top, 0);
  let y = bottomOf(top);
  let id = Math.max(0, ...numbers.values()) + 1;
  for (const section of orderSections(document)) {
    const panels = inSection.get(section.id) ?? [];
    const inner = write(panels, y + 1);
    written.push({
      type: 'row',
      id: id++,
      title: section.title,
      collapsed: section.folded,
      gridPos: { x: 0, y, w: columns, h: 1 },
      panels: section.folded ? inner : [],
      ...(section.repeat !== null && { repeat: section.repeat.variable }),
    });
    if (!section.folded) written.push(...inner);
    y += 1 + bottomOf(panels);
  }
  return written;
};

/** The variable that selects the data source: the original one, or a new one. */
const sourceVariable = (document: DashboardFields): Fields => {
  const sourceVariables = Object.entries(document.imported?.unmapped ?? {}).filter(([path]) =>
    /^templating\.list\.\d+$/.test(path),
  );
  const [own] = sourceVariables.flatMap(([path, value]) =>
    isFields(value) && choosesMetrics(value) && isValidDashboardField(path, value) ? [value] : [],
  );
  if (own !== undefined) return own;
  const usedNames = new Set(document.variables.map(({ name }) => name));
  const name = ['datasource', 'ds_prometheus', 'oiq_datasource'].find((one) => !usedNames.has(one)) ?? 'oiq_ds';
  return { type: 'datasource', name, label: 'Data source', query: 'prometheus' };
};

const writeDashboard = (document: DashboardFields, id: string): GrafanaObject => {
  const source = sourceVariable(document);
  const datasource = { type: 'prometheus', uid: `\${${String(source['name'])}}` };
  const numbers = assignPanelNumbers(document.panels);
  const variables = document.variables.flatMap((one) => writeVariable(one, datasource) ?? []);
  const annotations = document.annotations.flatMap((one) => writeAnnotation(one, datasource, numbers) ?? []);
  const built: GrafanaObject = {
    ...writeSettings(document),
    uid: id,
    schemaVersion,
    panels: writePanels(document, numbers, datasource),
    templating: { list: variables },
    annotations: { list: annotations },
  };
  restoreSourceFields(built, document.imported?.unmapped ?? {}, isValidDashboardField);
  const list = getAtPath(built, ['templating', 'list']) as unknown[];
  if (!list.includes(source)) list.unshift(source);
  return built;
};

/** Converts a dashboard to Grafana's classic JSON. Panels without an equivalent become text panels. */
export const writeGrafana = (id: string, document: DashboardFields): object => {
  // Stored source fields become part of the output, so a copy protects the dashboard.
  const built = writeDashboard(structuredClone(document), id);
  const read = readGrafana(built);
  if (read === undefined || 'problems' in read) return built;
  const numbers = assignPanelNumbers(document.panels);
  const ids = Object.fromEntries(document.panels.map((panel) => [`panel-${numbers.get(panel.id)}`, panel.id]));
  const sections = Object.fromEntries(
    orderSections(document).map((section, index) => [`row-${index + 1}`, section.id]),
  );
  const hiddenData = dataToExport(document, read.document, { ids, sections });
  if (hiddenData === undefined) return built;
  const list = getAtPath(built, ['templating', 'list']) as unknown[];
  list.push({
    type: 'constant',
    name: hiddenVariableName,
    hide: 2,
    skipUrlSync: true,
    query: JSON.stringify(hiddenData),
  });
  return built;
};
