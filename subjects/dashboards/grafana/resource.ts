/** Converts a dashboard resource (v2) of Grafana to the classic form. Marks are forwarded to the source. */
import { type Fields, fieldsIn, isFields, type Ledger } from './ledger.ts';
import { entry } from './lens.ts';

const specOf = (value: unknown): Fields => (isFields(value) && isFields(value['spec']) ? value['spec'] : {});

/** An object whose members map to members of others */
class Classic {
  readonly value: Record<string, unknown> = {};
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Copies members of `source` under their classic names. */
  copy(
    source: unknown,
    members: Readonly<Record<string, string>>,
    convert: (value: unknown) => unknown = (one) => one,
  ): this {
    if (isFields(source))
      for (const [key, classic] of Object.entries(members)) {
        if (!Object.hasOwn(source, key) || source[key] === undefined) continue;
        const value = convert(source[key]);
        if (value === undefined) continue;
        this.value[classic] = value;
        this.#ledger.alias(this.value, classic, [source, key]);
      }
    return this;
  }

  with(members: Fields): this {
    Object.assign(this.value, members);
    return this;
  }
}

const sameNames = (...keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(keys.map((key) => [key, key]));
/** Words of the resource that are numbers in the classic form. */
const numbered =
  (...words: readonly string[]) =>
  (value: unknown) => {
    const index = words.indexOf(String(value));
    return index === -1 ? value : index;
  };
const hides = numbered('dontHide', 'hideLabel', 'hideVariable');
const refreshes = numbered('never', 'onDashboardLoad', 'onTimeRangeChanged');
const sorts = numbered(
  ...['disabled', 'alphabeticalAsc', 'alphabeticalDesc', 'numericalAsc', 'numericalDesc'],
  ...['alphabeticalCaseInsensitiveAsc', 'alphabeticalCaseInsensitiveDesc', 'naturalAsc', 'naturalDesc'],
);

const variableTypes: Readonly<Record<string, string>> = {
  QueryVariable: 'query',
  TextVariable: 'textbox',
  ConstantVariable: 'constant',
  DatasourceVariable: 'datasource',
  IntervalVariable: 'interval',
  CustomVariable: 'custom',
  GroupByVariable: 'groupby',
  AdhocVariable: 'adhoc',
  SwitchVariable: 'switch',
};

/** Data source of a query or a filter variable: `{ type, uid }`; undefined if it names none. */
const sourceOf = (query: Fields, outside: unknown, ledger: Ledger): Fields | undefined => {
  if (isFields(outside)) return new Classic(ledger).copy(outside, sameNames('type', 'uid')).value;
  const hasGroup = query['kind'] === 'DataQuery' || String(query['kind']) in variableTypes;
  const built = new Classic(ledger).copy(query, hasGroup ? { group: 'type' } : { kind: 'type' });
  built.copy(query['datasource'], { name: 'uid', uid: 'uid' });
  if (built.value['type'] === '') delete built.value['type'];
  return Object.keys(built.value).length === 0 ? undefined : built.value;
};

/** Marks members that only declare a type. */
const form = (holder: unknown, ledger: Ledger, ...keys: readonly string[]): void => {
  if (isFields(holder)) ledger.carry(holder, ...keys);
};

const targetOf = (query: Fields, ledger: Ledger): Fields => {
  const spec = specOf(query);
  const inner = isFields(spec['query']) ? spec['query'] : {};
  form(query, ledger, 'kind');
  form(inner, ledger, ...(inner['kind'] === 'DataQuery' ? ['kind'] : []));
  ledger.markDefault(inner, 'version');
  const innerSpec = specOf(inner);
  const built = new Classic(ledger).copy(innerSpec, sameNames(...Object.keys(innerSpec)));
  built.copy(spec, { refId: 'refId', hidden: 'hide' });
  const datasource = sourceOf(inner, spec['datasource'], ledger);
  return built.with(datasource === undefined ? {} : { datasource }).value;
};

const transformationOf = (one: Fields, ledger: Ledger): Fields => {
  const spec = specOf(one);
  const built = new Classic(ledger).copy(spec, sameNames('id', 'options', 'disabled', 'filter', 'topic'));
  if (!('id' in built.value)) built.copy(one, one['group'] === undefined ? { kind: 'id' } : { group: 'id' });
  form(one, ledger, 'kind', 'group');
  return built.value;
};

/** Converts the panel of an element. */
export const panelOfElement = (element: Fields, ledger: Ledger): Fields => {
  const spec = specOf(element);
  form(element, ledger, 'kind');
  const built = new Classic(ledger).copy(spec, sameNames('id', 'title', 'description', 'links', 'transparent'));
  if (element['kind'] === 'LibraryPanel') return built.copy(spec, sameNames('libraryPanel')).value;
  const [group, viz] = [spec['data'], spec['vizConfig']];
  const data = specOf(group);
  form(group, ledger, 'kind');
  if (isFields(viz)) {
    const vizSpec = specOf(viz);
    built.copy(
      viz,
      viz['group'] === undefined
        ? { kind: 'type', version: 'pluginVersion' }
        : { group: 'type', version: 'pluginVersion' },
    );
    built.copy(vizSpec, sameNames('options', 'fieldConfig', 'pluginVersion'));
    if (viz['group'] !== undefined) form(viz, ledger, 'kind');
  }
  built.copy(data['queryOptions'], {
    ...sameNames(
      'timeFrom',
      'timeShift',
      'maxDataPoints',
      'interval',
      'cacheTimeout',
      'queryCachingTTL',
      'hideTimeOverride',
    ),
    timeCompare: 'timeCompare',
  });
  const targets = fieldsIn(data['queries']).map((query) => targetOf(query, ledger));
  const transformations = fieldsIn(data['transformations']).map((one) => transformationOf(one, ledger));
  return built.with({
    ...(targets.length > 0 && { targets }),
    ...(transformations.length > 0 && { transformations }),
  }).value;
};

const variableOf = (variable: Fields, ledger: Ledger): Fields => {
  const spec = specOf(variable);
  const query = spec['query'];
  const built = new Classic(ledger)
    .copy(
      spec,
      sameNames(
        ...[
          'name',
          'label',
          'description',
          'skipUrlSync',
          'regex',
          'current',
          'options',
          'multi',
          'includeAll',
          'allValue',
        ],
        ...['allowCustomValue', 'definition', 'staticOptions', 'staticOptionsOrder', 'auto', 'auto_min', 'auto_count'],
        ...['filters', 'baseFilters', 'defaultKeys', 'placeholder', 'regexApplyTo', 'origin', 'valuesFormat'],
      ),
    )
    .copy(spec, { hide: 'hide' }, hides)
    .copy(spec, { refresh: 'refresh' }, refreshes)
    .copy(spec, { sort: 'sort' }, sorts)
    .copy(spec, { pluginId: 'query' });
  built.copy(variable, { kind: 'type' }, (kind) => entry(variableTypes, String(kind)) ?? String(kind));
  if (!isFields(query)) {
    // Variables of filters and groupings name their data source outside their spec.
    const datasource = sourceOf(variable, spec['datasource'], ledger);
    return built.copy(spec, { query: 'query' }).with(datasource === undefined ? {} : { datasource }).value;
  }
  form(query, ledger, 'kind');
  ledger.markDefault(query, 'version');
  const querySpec = specOf(query);
  const legacy = querySpec['__legacyStringValue'];
  if (typeof legacy === 'string') built.copy(querySpec, { __legacyStringValue: 'query' });
  else built.with({ query: querySpec });
  const datasource = sourceOf(query, spec['datasource'], ledger);
  return built.with(datasource === undefined ? {} : { datasource }).value;
};

const annotationOf = (annotation: Fields, ledger: Ledger): Fields => {
  const spec = specOf(annotation);
  const query = isFields(spec['query']) ? spec['query'] : {};
  form(annotation, ledger, 'kind');
  form(query, ledger, 'kind');
  ledger.markDefault(query, 'version');
  const { legacyOptions } = spec;
  const built = new Classic(ledger);
  if (isFields(legacyOptions)) built.copy(legacyOptions, sameNames(...Object.keys(legacyOptions)));
  const querySpec = specOf(query);
  built.copy(querySpec, sameNames(...Object.keys(querySpec)));
  built.copy(spec, sameNames('name', 'enable', 'hide', 'iconColor', 'filter', 'placement'));
  built.copy(spec, { builtIn: 'builtIn' }, (is) => (is === true ? 1 : is === false ? 0 : is));
  const datasource = sourceOf(query, spec['datasource'], ledger);
  return built.with(datasource === undefined ? {} : { datasource }).value;
};

/** Converts everything of a dashboard except its panels and layout. */
export const classicOf = (spec: Fields, ledger: Ledger): Fields => {
  const settings = spec['timeSettings'];
  const built = new Classic(ledger)
    .copy(spec, sameNames('title', 'description', 'tags', 'editable', 'links', 'liveNow', 'preload', 'revision'))
    .copy(spec, { cursorSync: 'graphTooltip' }, numbered('Off', 'Crosshair', 'Tooltip'))
    .copy(settings, {
      timezone: 'timezone',
      autoRefresh: 'refresh',
      ...sameNames('weekStart', 'fiscalYearStartMonth'),
    });
  const time = new Classic(ledger).copy(settings, sameNames('from', 'to')).value;
  const timepicker = new Classic(ledger).copy(settings, {
    hideTimepicker: 'hidden',
    autoRefreshIntervals: 'refresh_intervals',
    ...sameNames('nowDelay'),
    quickRanges: 'quick_ranges',
  }).value;
  return built.with({
    ...(Object.keys(time).length > 0 && { time }),
    ...(Object.keys(timepicker).length > 0 && { timepicker }),
    templating: { list: fieldsIn(spec['variables']).map((one) => variableOf(one, ledger)) },
    annotations: { list: fieldsIn(spec['annotations']).map((one) => annotationOf(one, ledger)) },
  }).value;
};
