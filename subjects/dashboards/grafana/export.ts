/** Exports a dashboard in Grafana's classic form, complete enough for its typed readers. */
import type { DashboardFields, Panel } from '../document.ts';
import { writeAnnotation } from './annotations.ts';
import { writeSettings as writeFields, writeOverrides } from './fields.ts';
import { readGrafana } from './import.ts';
import { type Fields, fieldsIn, isFields } from './ledger.ts';
import { at, entry, put } from './lens.ts';
import { writeLinks } from './links.ts';
import { canBeQueried, writeQueries } from './queries.ts';
import { writeSettings } from './settings.ts';
import { fitsDashboard, fitsPanel, neededOptions } from './strict.ts';
import { writeTransformations } from './transformations.ts';
import { dataToExport, hiddenVariableName } from './travelling.ts';
import { retainTyped } from './typed-options.ts';
import { choosesMetrics, writeVariable } from './variables.ts';
import { writeVisual } from './visuals.ts';

type Built = Record<string, unknown>;

const schemaVersion = 42;
const columns = 24;

/** Inserts complete members of lists at their positions, and then parts of members. Existing values are preserved. */
const putSourceFields = (built: Built, sourceFields: Fields, fits: (path: string, value: unknown) => boolean): void => {
  const entries = Object.entries(sourceFields).filter(([path, value]) => fits(path, value));
  for (const [path, value] of entries) {
    const [, list = '', place = ''] = /^(.+)\.(\d+)$/.exec(path) ?? [];
    const all = list === '' ? undefined : at(built, list.split('.'));
    if (Array.isArray(all)) all.splice(Math.min(Number(place), all.length), 0, value);
    else if (list !== '' && all === undefined) put(built, list.split('.'), [value]);
  }
  for (const [path, value] of entries) if (!/\.\d+$/.test(path)) put(built, path.split('.'), value);
};

/** Inserts missing required values. */
const fill = (built: Built, needed: Fields, path: readonly string[]): void => {
  for (const [key, value] of Object.entries(needed)) {
    const there = at(built, [...path, key]);
    if (isFields(value) && (there === undefined || isFields(there))) {
      put(built, [...path, key], {});
      fill(built, value, [...path, key]);
    } else if (there === undefined) put(built, [...path, key], value);
  }
};

const timeOf = ({ range, shift, isHidden }: Panel['time']): Fields => ({
  ...(range !== undefined && { timeFrom: range }),
  ...(shift !== undefined && { timeShift: shift }),
  ...(isHidden && { hideTimeOverride: true }),
});

const repeatOf = ({ repeat }: Panel): Fields =>
  repeat === null
    ? {}
    : {
        repeat: repeat.variable,
        repeatDirection: repeat.direction === 'down' ? 'v' : 'h',
        ...(repeat.direction === 'across' && { maxPerRow: repeat.perRow }),
      };

/** The queries of a panel, as text for people. */
const questionsIn = (panel: Panel): string =>
  panel.queries
    .map(
      ({ name, query, savedQueryId }) =>
        `${name}: ${query === undefined ? `saved query ${savedQueryId}` : JSON.stringify(query)}`,
    )
    .join('\n');

/** A text panel that replaces a panel without an equivalent in Grafana. */
const textInstead = (panel: Panel): Fields => {
  const questions = panel.visual.kind === 'placeholder' ? panel.visual.queries.join('\n') : questionsIn(panel);
  const content = `Grafana has no equivalent of the panel type ${panel.visual.kind}.`;
  return {
    type: 'text',
    options: {
      mode: 'markdown',
      content: questions === '' ? content : `${content}\n\n    ${questions.replaceAll('\n', '\n    ')}`,
    },
  };
};

const drawnOf = (panel: Panel, datasource: object): Built => {
  const written = panel.visual.kind === 'placeholder' || !canBeQueried(panel) ? undefined : writeVisual(panel.visual);
  if (written === undefined) return hasSourcePanel(panel) ? {} : { ...textInstead(panel) };
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
  fitsPanel('targets', imported.unmapped['targets'] ?? []);

const writePanel = (panel: Panel, id: number, y: number, datasource: object): Built => {
  const { title, description, transparent, links, place, time, maxDataPoints: maxPoints } = panel;
  const built: Built = {
    ...drawnOf(panel, datasource),
    id,
    title,
    gridPos: { x: place.x, y, w: place.width, h: place.height },
    ...(description !== '' && { description }),
    ...(transparent && { transparent }),
    ...(links.length > 0 && { links: writeLinks(links) }),
    ...timeOf(time),
    ...(maxPoints !== undefined && { maxDataPoints: maxPoints }),
    ...repeatOf(panel),
  };
  // Untyped fields are removed below; the dashboard retains them.
  putSourceFields(built, structuredClone(panel.imported?.unmapped ?? {}), fitsPanel);
  retainTyped(built);
  fill(built, entry(neededOptions, String(built['type'])) ?? {}, ['options']);
  fill(built, { defaults: {}, overrides: [] }, ['fieldConfig']);
  if (isFields(at(built, ['fieldConfig', 'defaults', 'thresholds'])))
    fill(built, { mode: 'absolute', steps: [] }, ['fieldConfig', 'defaults', 'thresholds']);
  for (const step of fieldsIn(at(built, ['fieldConfig', 'defaults', 'thresholds', 'steps'])))
    fill(step as Built, { value: null }, []);
  if (isFields(at(built, ['options', 'code'])))
    fill(built, { language: 'plaintext', showLineNumbers: false, showMiniMap: false }, ['options', 'code']);
  return built;
};

/** Numbers of panels: those in their IDs, then consecutive numbers. */
const numbersOf = (panels: readonly Panel[]): ReadonlyMap<string, number> => {
  const own = panels.map(({ id }) => Number(/^panel-(0|[1-9]\d{0,8})$/.exec(id)?.[1] ?? NaN));
  let next = Math.max(0, ...own.filter(Number.isFinite)) + 1;
  return new Map(panels.map(({ id }, index) => [id, Number.isFinite(own[index]) ? (own[index] ?? 0) : next++]));
};

/** Sections from top to bottom, with nested sections after their parents. */
const sectionsOf = ({ sections }: DashboardFields): DashboardFields['sections'] => {
  const below = (within: string | null): DashboardFields['sections'] =>
    sections.filter((one) => one.within === within).flatMap((one) => [one, ...below(one.id)]);
  return below(null);
};

const endOf = (panels: readonly Panel[]): number => Math.max(0, ...panels.map(({ place }) => place.y + place.height));

const writePanels = (document: DashboardFields, numbers: ReadonlyMap<string, number>, datasource: object): Built[] => {
  const inSection = Map.groupBy(document.panels, ({ place }) => place.section);
  const write = (panels: readonly Panel[], top: number): Built[] =>
    panels.map((panel) => writePanel(panel, numbers.get(panel.id) ?? 0, top + panel.place.y, datasource));
  const top = inSection.get(null) ?? [];
  const written = write(top, 0);
  let y = endOf(top);
  let id = Math.max(0, ...numbers.values()) + 1;
  for (const section of sectionsOf(document)) {
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
    y += 1 + endOf(panels);
  }
  return written;
};

/** The variable that selects the data source: the original one, or a new one. */
const sourceVariable = (document: DashboardFields): Fields => {
  const sourceVariables = Object.entries(document.imported?.unmapped ?? {}).filter(([path]) =>
    /^templating\.list\.\d+$/.test(path),
  );
  const [own] = sourceVariables.flatMap(([path, value]) =>
    isFields(value) && choosesMetrics(value) && fitsDashboard(path, value) ? [value] : [],
  );
  if (own !== undefined) return own;
  const usedNames = new Set(document.variables.map(({ name }) => name));
  const name = ['datasource', 'ds_prometheus', 'oiq_datasource'].find((one) => !usedNames.has(one)) ?? 'oiq_ds';
  return { type: 'datasource', name, label: 'Data source', query: 'prometheus' };
};

const written = (document: DashboardFields, id: string): Built => {
  const source = sourceVariable(document);
  const datasource = { type: 'prometheus', uid: `\${${String(source['name'])}}` };
  const numbers = numbersOf(document.panels);
  const variables = document.variables.flatMap((one) => writeVariable(one, datasource) ?? []);
  const annotations = document.annotations.flatMap((one) => writeAnnotation(one, datasource, numbers) ?? []);
  const built: Built = {
    ...writeSettings(document),
    uid: id,
    schemaVersion,
    panels: writePanels(document, numbers, datasource),
    templating: { list: variables },
    annotations: { list: annotations },
  };
  putSourceFields(built, document.imported?.unmapped ?? {}, fitsDashboard);
  const list = at(built, ['templating', 'list']) as unknown[];
  if (!list.includes(source)) list.unshift(source);
  return built;
};

/** Converts a dashboard to Grafana's classic JSON. Panels without an equivalent become text panels. */
export const writeGrafana = (id: string, document: DashboardFields): object => {
  // Stored source fields become part of the output, so a copy protects the dashboard.
  const built = written(structuredClone(document), id);
  const read = readGrafana(built);
  if (read === undefined || 'problems' in read) return built;
  const numbers = numbersOf(document.panels);
  const ids = Object.fromEntries(document.panels.map((panel) => [`panel-${numbers.get(panel.id)}`, panel.id]));
  const sections = Object.fromEntries(sectionsOf(document).map((section, index) => [`row-${index + 1}`, section.id]));
  const travels = dataToExport(document, read.document, { ids, sections });
  if (travels === undefined) return built;
  const list = at(built, ['templating', 'list']) as unknown[];
  list.push({ type: 'constant', name: hiddenVariableName, hide: 2, skipUrlSync: true, query: JSON.stringify(travels) });
  return built;
};
