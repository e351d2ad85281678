/** Visualizations of panels: options by Grafana type and by OIQ kind. */

import { type Fields, isFields } from '../../../runtime/fields.ts';
import { compactVisual } from '../as-code.ts';
import type { Panel } from '../document.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import { createListLens, getAtPath, type Lens, readLenses, setAtPath, text, writeLenses } from './lens.ts';
import { reducer } from './reducers.ts';
import { formByKind, formByType, legendLenses } from './visual-forms.ts';

type Visual = Panel['visual'];

export const isKnownType = (type: unknown): boolean => formByType.has(String(type));
/** Returns whether panels of a type have no queries. */
export const hasNoQueries = (type: unknown): boolean => ['text', 'alertlist', 'dashlist'].includes(String(type));

const readLegend = (options: unknown, ledger: Ledger): Fields | undefined => {
  const legend = getAtPath(options, ['legend']);
  if (!isFields(legend)) return undefined;
  const { displayMode, placement, showLegend } = legend;
  const legendFields: Record<string, unknown> = {};
  if (showLegend === false || displayMode === 'hidden') {
    legendFields['place'] = 'hidden';
    ledger.carry(legend, showLegend === false ? 'showLegend' : 'displayMode');
    ledger.markDefault(legend, ...(showLegend === true ? ['showLegend'] : []));
  } else {
    if (showLegend === true) ledger.carry(legend, 'showLegend');
    if (placement === 'bottom' || placement === 'right') {
      legendFields['place'] = placement;
      ledger.carry(legend, 'placement');
    }
  }
  if (displayMode === 'list' || displayMode === 'table') {
    legendFields['form'] = displayMode;
    ledger.carry(legend, 'displayMode');
  }
  return legendFields;
};

const alertStates = {
  firing: 'firing',
  pending: 'pending',
  recovering: 'recovering',
  noData: 'no-data',
  error: 'error',
  normal: 'resolved',
} as const;
const alertOrders = [undefined, 'name', 'name-descending', 'severity', 'newest', 'oldest'] as const;

/** Settings beyond the tables, by kind. */
const readSpecialSettings = (kind: string, options: unknown, ledger: Ledger): Fields => {
  if (!isFields(options)) return {};
  if (kind === 'table') return readTable(options, ledger);
  if (kind === 'heatmap') return readHeatmap(options, ledger);
  if (kind === 'node-graph') return readGraph(options, ledger);
  // In Grafana, search is off and favorites are on by default.
  if (kind === 'dashboards')
    return { found: options['showSearch'] === true, favourites: options['showStarred'] !== false };
  if (kind !== 'alerts') return {};
  const states = options['stateFilter'];
  const order = alertOrders[Number(options['sortOrder'])];
  if (order !== undefined) ledger.carry(options, 'sortOrder');
  if (isFields(states)) ledger.carry(states, ...Object.keys(alertStates));
  return {
    ...(isFields(states) && {
      states: Object.entries(alertStates).flatMap(([theirs, ours]) => (states[theirs] === true ? [ours] : [])),
    }),
    ...(order !== undefined && { order }),
  };
};

const readTable = (options: Fields, ledger: Ledger): Fields => {
  const sortBy = toFieldsList(options['sortBy'])
    .filter(({ displayName }) => typeof displayName === 'string' && displayName.length <= 512)
    .slice(0, 8)
    .map((sort) => {
      ledger.carry(sort, 'displayName', 'desc');
      return { field: sort['displayName'], descending: sort['desc'] === true };
    });
  const footer = options['footer'];
  const footerReducers = isFields(footer) ? createListLens(reducer, 32).read(footer['reducer']) : undefined;
  if (!isFields(footer) || footer['show'] !== true || !Array.isArray(footerReducers) || footerReducers.length === 0) {
    if (isFields(footer) && footer['show'] === false) ledger.markDefault(footer, 'show');
    return { sortBy };
  }
  const footerFields = createListLens(text(512), 100).read(footer['fields'] === '' ? [] : footer['fields']);
  ledger.carry(footer, 'show', 'reducer', ...(footerFields === undefined ? [] : ['fields']));
  return { sortBy, footer: { reducers: footerReducers, fields: footerFields ?? [] } };
};

const readHeatmap = (options: Fields, ledger: Ledger): Fields => {
  const colourOptions = options['color'];
  if (!isFields(colourOptions)) return {};
  const { mode, scheme } = colourOptions;
  if (mode === 'opacity') {
    ledger.carry(colourOptions, 'mode');
    return { scale: 'opacity' };
  }
  if (typeof scheme !== 'string' || scheme.length > 64) return {};
  ledger.carry(colourOptions, 'scheme');
  if (mode === 'scheme') ledger.carry(colourOptions, 'mode');
  return { scale: scheme === 'Oranges' ? 'oranges' : scheme };
};

const readGraph = ({ nodes, edges }: Fields, ledger: Ledger): Fields => {
  const readUnits = (statistics: unknown): string[] => {
    if (!isFields(statistics)) return [];
    const { mainStatUnit = '', secondaryStatUnit = '' } = statistics;
    if (typeof mainStatUnit !== 'string' || typeof secondaryStatUnit !== 'string') return [];
    ledger.carry(statistics, 'mainStatUnit', 'secondaryStatUnit');
    return secondaryStatUnit === '' ? (mainStatUnit === '' ? [] : [mainStatUnit]) : [mainStatUnit, secondaryStatUnit];
  };
  const arcs = toFieldsList(getAtPath(nodes, ['arcs']))
    .slice(0, 16)
    .flatMap((arc) => {
      const { field, color } = arc;
      if (typeof field !== 'string' || typeof color !== 'string') return [];
      ledger.carry(arc, 'field', 'color');
      return [{ field, colour: color }];
    });
  return { nodeUnits: readUnits(nodes), edgeUnits: readUnits(edges), arcs };
};

/** Converts the visualization of a panel with a known type. */
export const readVisual = (panel: Fields, ledger: Ledger): Fields => {
  const form = formByType.get(String(panel['type']));
  if (form === undefined) return {};
  ledger.carry(panel, 'type');
  const visualFields = readLenses(form.lenses, panel, ledger);
  const legend = form.lenses.includes(legendLenses[0] as Lens) ? readLegend(panel['options'], ledger) : undefined;
  return {
    kind: form.kind,
    ...visualFields,
    ...(legend !== undefined && { legend: { ...(visualFields['legend'] as object | undefined), ...legend } }),
    ...readSpecialSettings(form.kind, panel['options'], ledger),
  };
};

const writeLegend = (
  { place, form }: { readonly place: string; readonly form: string },
  written: GrafanaObject,
): void => {
  setAtPath(written, ['options', 'legend', 'showLegend'], place !== 'hidden');
  if (form !== 'list') setAtPath(written, ['options', 'legend', 'displayMode'], form);
  if (place === 'right') setAtPath(written, ['options', 'legend', 'placement'], place);
};

const writeTable = ({ sortBy, footer }: Visual & { kind: 'table' }, written: GrafanaObject): void => {
  if (sortBy.length > 0)
    setAtPath(
      written,
      ['options', 'sortBy'],
      sortBy.map(({ field, descending }) => ({ displayName: field, desc: descending })),
    );
  if (footer === null) return;
  setAtPath(written, ['options', 'footer', 'show'], true);
  setAtPath(
    written,
    ['options', 'footer', 'reducer'],
    footer.reducers.map((reducerName) => reducer.write(reducerName)),
  );
  if (footer.fields.length > 0) setAtPath(written, ['options', 'footer', 'fields'], footer.fields);
};

type GrafanaObject = Record<string, unknown>;

const writeHeatmap = ({ scale: shades }: Visual & { kind: 'heatmap' }, written: GrafanaObject): void => {
  setAtPath(written, ['options', 'color', 'mode'], shades === 'opacity' ? 'opacity' : 'scheme');
  if (shades !== 'opacity' && shades !== 'oranges') setAtPath(written, ['options', 'color', 'scheme'], shades);
};

const writeAlerts = (visual: Visual & { kind: 'alerts' }, written: GrafanaObject): void => {
  const states = Object.entries(alertStates).map(([theirs, ours]) => [theirs, visual.states.includes(ours)] as const);
  setAtPath(written, ['options', 'stateFilter'], Object.fromEntries(states));
  setAtPath(written, ['options', 'sortOrder'], alertOrders.indexOf(visual.order));
};

const writeSpecialSettings = (visual: Visual, written: GrafanaObject): void => {
  if ('legend' in visual && typeof visual.legend === 'object') writeLegend(visual.legend, written);
  if (visual.kind === 'table') writeTable(visual, written);
  if (visual.kind === 'heatmap') writeHeatmap(visual, written);
  if (visual.kind === 'node-graph') writeGraph(visual, written);
  if (visual.kind === 'alerts') writeAlerts(visual, written);
};

const writeGraph = (visual: Visual & { kind: 'node-graph' }, written: Record<string, unknown>): void => {
  for (const [part, units] of [
    ['nodes', visual.nodeUnits],
    ['edges', visual.edgeUnits],
  ] as const)
    for (const [index, key] of ['mainStatUnit', 'secondaryStatUnit'].entries())
      if (units[index] !== undefined) setAtPath(written, ['options', part, key], units[index]);
  if (visual.arcs.length > 0)
    setAtPath(
      written,
      ['options', 'nodes', 'arcs'],
      visual.arcs.map(({ field, colour: color }) => ({ field, color })),
    );
};

/**
 * Returns the Grafana type and options of a panel; undefined if Grafana has no equivalent. Omits Grafana's defaults.
 */
export const writeVisual = (visual: Visual): Fields | undefined => {
  const form = formByKind.get(visual.kind);
  if (form === undefined) return undefined;
  const written = writeLenses(form.lenses, compactVisual(visual));
  writeSpecialSettings(visual, written);
  return { type: form.type, ...written };
};
