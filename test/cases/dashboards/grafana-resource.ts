/** A classic Grafana dashboard converted to its resource format, as Grafana converts it. */

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);
const pick = (from: Fields, ...keys: readonly string[]): Fields =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
const without = (from: Fields, ...keys: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key)));

/** A query with its data source, which defaults to that of the panel. */
const dataQuery = (target: Fields, datasource: unknown): Fields => {
  const source = isFields(datasource) ? datasource : typeof datasource === 'string' ? { uid: datasource } : {};
  return {
    kind: 'DataQuery',
    group: source['type'] ?? '',
    version: 'v0',
    ...(source['uid'] !== undefined && { datasource: { name: source['uid'] } }),
    spec: without(target, 'refId', 'hide', 'datasource'),
  };
};

const elementOf = (panel: Fields): Fields => ({
  kind: 'Panel',
  spec: {
    ...pick(panel, 'id', 'title', 'description', 'links', 'transparent'),
    data: {
      kind: 'QueryGroup',
      spec: {
        queries: listIn(panel['targets']).map((target) => ({
          kind: 'PanelQuery',
          spec: {
            ...pick(target, 'refId'),
            hidden: target['hide'] === true,
            query: dataQuery(target, target['datasource'] ?? panel['datasource']),
          },
        })),
        transformations: listIn(panel['transformations']).map((one) => ({
          kind: 'Transformation',
          group: one['id'],
          spec: without(one, 'id'),
        })),
        queryOptions: pick(
          panel,
          ...[
            'timeFrom',
            'timeShift',
            'maxDataPoints',
            'interval',
            'cacheTimeout',
            'queryCachingTTL',
            'hideTimeOverride',
          ],
        ),
      },
    },
    vizConfig: {
      kind: 'VizConfig',
      group: panel['type'],
      version: panel['pluginVersion'] ?? '',
      spec: {
        options: panel['options'] ?? {},
        fieldConfig: panel['fieldConfig'] ?? { defaults: {}, overrides: [] },
      },
    },
  },
});

const itemOf = (panel: Fields, top: number): Fields => {
  const { x = 0, y = 0, w = 12, h = 8 } = isFields(panel['gridPos']) ? panel['gridPos'] : {};
  return {
    kind: 'GridLayoutItem',
    spec: {
      x,
      y: Number(y) - top,
      width: w,
      height: h,
      element: { kind: 'ElementReference', name: `panel-${panel['id']}` },
      ...(typeof panel['repeat'] === 'string' &&
        panel['repeat'] !== '' && {
          repeat: {
            mode: 'variable',
            value: panel['repeat'],
            ...(panel['repeatDirection'] !== undefined && { direction: panel['repeatDirection'] }),
            ...(panel['maxPerRow'] !== undefined && { maxPerRow: panel['maxPerRow'] }),
          },
        }),
    },
  };
};

const gridOf = (panels: readonly Fields[], top = 0): Fields => ({
  kind: 'GridLayout',
  spec: { items: panels.map((panel) => itemOf(panel, top)) },
});

const topOf = (panel: Fields): number => Number((isFields(panel['gridPos']) ? panel['gridPos']['y'] : 0) ?? 0);

const layoutOf = (panels: readonly Fields[]): Fields => {
  const sorted = panels.toSorted((one, other) => topOf(one) - topOf(other));
  const first = sorted.findIndex(({ type }) => type === 'row');
  if (first === -1) return gridOf(sorted);
  const rows: { readonly row: Fields | undefined; readonly panels: Fields[] }[] = [];
  if (first > 0) rows.push({ row: undefined, panels: sorted.slice(0, first) });
  for (const panel of sorted.slice(first))
    if (panel['type'] === 'row') rows.push({ row: panel, panels: listIn(panel['panels']) });
    else rows.at(-1)?.panels.push(panel);
  return {
    kind: 'RowsLayout',
    spec: {
      rows: rows.map(({ row, panels: inner }) => ({
        kind: 'RowsLayoutRow',
        spec: {
          title: row?.['title'] ?? '',
          collapse: row?.['collapsed'] === true,
          hideHeader: row === undefined,
          fillScreen: false,
          ...(typeof row?.['repeat'] === 'string' &&
            row['repeat'] !== '' && {
              repeat: { mode: 'variable', value: row['repeat'] },
            }),
          layout: gridOf(inner, row === undefined ? 0 : topOf(row) + 1),
        },
      })),
    },
  };
};

const hides = ['dontHide', 'hideLabel', 'hideVariable'];
const refreshes = ['never', 'onDashboardLoad', 'onTimeRangeChanged'];
const sorts = [
  'disabled',
  'alphabeticalAsc',
  'alphabeticalDesc',
  'numericalAsc',
  'numericalDesc',
  'alphabeticalCaseInsensitiveAsc',
];
const kinds: Record<string, string> = {
  query: 'QueryVariable',
  textbox: 'TextVariable',
  constant: 'ConstantVariable',
  datasource: 'DatasourceVariable',
  interval: 'IntervalVariable',
  custom: 'CustomVariable',
  adhoc: 'AdhocVariable',
  groupby: 'GroupByVariable',
};

const variableOf = (variable: Fields): Fields => {
  const { type, query } = variable;
  const queryFields = isFields(query) ? query : { __legacyStringValue: query };
  const ofFilters = type === 'adhoc' || type === 'groupby';
  return {
    kind: kinds[String(type)] ?? type,
    ...(ofFilters && pick(dataQuery({}, variable['datasource']), 'group', 'datasource')),
    spec: {
      ...pick(
        variable,
        'name',
        'label',
        'description',
        'current',
        'options',
        'multi',
        'includeAll',
        'allValue',
        'regex',
      ),
      ...pick(
        variable,
        'allowCustomValue',
        'definition',
        'staticOptions',
        'staticOptionsOrder',
        'filters',
        'baseFilters',
      ),
      ...pick(variable, 'auto', 'auto_min', 'auto_count'),
      hide: hides[Number(variable['hide'] ?? 0)],
      skipUrlSync: variable['skipUrlSync'] === true,
      ...(type === 'query' || type === 'datasource' ? { refresh: refreshes[Number(variable['refresh'] ?? 0)] } : {}),
      ...(type === 'query' && {
        sort: sorts[Number(variable['sort'] ?? 0)],
        query: dataQuery(queryFields, variable['datasource']),
      }),
      ...(type === 'datasource' && { pluginId: query }),
      ...(!['query', 'datasource'].includes(String(type)) && query !== undefined && { query }),
    },
  };
};

const annotationOf = (annotation: Fields): Fields => {
  const known = ['name', 'enable', 'hide', 'iconColor', 'builtIn', 'filter', 'datasource'];
  return {
    kind: 'AnnotationQuery',
    spec: {
      ...pick(annotation, 'name', 'enable', 'hide', 'iconColor', 'filter'),
      builtIn: annotation['builtIn'] === 1,
      query: { ...dataQuery({}, annotation['datasource']), spec: {} },
      legacyOptions: without(annotation, ...known),
    },
  };
};

const panelsIn = (panels: readonly Fields[]): Fields[] =>
  panels.flatMap((panel) => (panel['type'] === 'row' ? listIn(panel['panels']) : [panel]));

/** The resource of a classic dashboard whose panels have grid positions and ids. */
export const resourceOf = (dashboard: Fields): Fields => {
  const { time, timepicker } = dashboard as { time?: Fields; timepicker?: Fields };
  const panels = listIn(dashboard['panels']);
  const templating = isFields(dashboard['templating']) ? listIn(dashboard['templating']['list']) : [];
  const annotations = isFields(dashboard['annotations']) ? listIn(dashboard['annotations']['list']) : [];
  return {
    apiVersion: 'dashboard.grafana.app/v2',
    kind: 'Dashboard',
    metadata: { name: dashboard['uid'] },
    spec: {
      ...pick(dashboard, 'title', 'description', 'tags', 'editable', 'links', 'liveNow', 'preload'),
      cursorSync: ['Off', 'Crosshair', 'Tooltip'][Number(dashboard['graphTooltip'] ?? 0)],
      timeSettings: {
        ...pick(time ?? {}, 'from', 'to'),
        ...pick(dashboard, 'timezone', 'weekStart', 'fiscalYearStartMonth'),
        ...(dashboard['refresh'] !== undefined && { autoRefresh: dashboard['refresh'] }),
        ...(timepicker?.['refresh_intervals'] !== undefined && {
          autoRefreshIntervals: timepicker['refresh_intervals'],
        }),
        ...(timepicker?.['hidden'] !== undefined && { hideTimepicker: timepicker['hidden'] }),
        ...(timepicker?.['nowDelay'] !== undefined && { nowDelay: timepicker['nowDelay'] }),
      },
      variables: templating.map(variableOf),
      annotations: annotations.map(annotationOf),
      elements: Object.fromEntries(panelsIn(panels).map((panel) => [`panel-${panel['id']}`, elementOf(panel)])),
      layout: layoutOf(panels),
    },
  };
};

/** Whether each panel has a unique id, and a type that the resource supports. */
export const hasResource = (dashboard: Fields): boolean => {
  const panels = panelsIn(listIn(dashboard['panels']));
  const ids = panels.map(({ id }) => id);
  const isOld = ({ type, options, libraryPanel }: Fields): boolean =>
    type === 'graph' || type === 'singlestat' || (type !== 'row' && !isFields(options)) || libraryPanel !== undefined;
  return (
    panels.length > 0 &&
    dashboard['rows'] === undefined &&
    ids.every((id) => typeof id === 'number') &&
    new Set(ids).size === ids.length &&
    !panels.some(isOld)
  );
};
