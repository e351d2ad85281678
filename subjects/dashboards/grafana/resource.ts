/** Converts a dashboard resource (v2) of Grafana to the classic form. Marks are forwarded to the source. */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import { lookUp } from './lens.ts';

const getSpec = (value: unknown): Fields => (isFields(value) && isFields(value['spec']) ? value['spec'] : {});

/** An object whose members map to members of other objects. */
class ClassicBuilder {
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
const createIndexConverter =
  (...indexedNames: readonly string[]) =>
  (value: unknown) => {
    const index = indexedNames.indexOf(String(value));
    return index === -1 ? value : index;
  };
const toHideNumber = createIndexConverter('dontHide', 'hideLabel', 'hideVariable');
const toRefreshNumber = createIndexConverter('never', 'onDashboardLoad', 'onTimeRangeChanged');
const toSortNumber = createIndexConverter(
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
const convertDataSource = (query: Fields, reference: unknown, ledger: Ledger): Fields | undefined => {
  if (isFields(reference)) return new ClassicBuilder(ledger).copy(reference, sameNames('type', 'uid')).value;
  const hasGroup = query['kind'] === 'DataQuery' || String(query['kind']) in variableTypes;
  const built = new ClassicBuilder(ledger).copy(query, hasGroup ? { group: 'type' } : { kind: 'type' });
  built.copy(query['datasource'], { name: 'uid', uid: 'uid' });
  if (built.value['type'] === '') delete built.value['type'];
  return Object.keys(built.value).length === 0 ? undefined : built.value;
};

/** Marks members that only declare a type. */
const carryKind = (holder: unknown, ledger: Ledger, ...keys: readonly string[]): void => {
  if (isFields(holder)) ledger.carry(holder, ...keys);
};

const convertTarget = (query: Fields, ledger: Ledger): Fields => {
  const spec = getSpec(query);
  const innerQuery = isFields(spec['query']) ? spec['query'] : {};
  carryKind(query, ledger, 'kind');
  carryKind(innerQuery, ledger, ...(innerQuery['kind'] === 'DataQuery' ? ['kind'] : []));
  ledger.markDefault(innerQuery, 'version');
  const innerSpec = getSpec(innerQuery);
  const built = new ClassicBuilder(ledger).copy(innerSpec, sameNames(...Object.keys(innerSpec)));
  built.copy(spec, { refId: 'refId', hidden: 'hide' });
  const datasource = convertDataSource(innerQuery, spec['datasource'], ledger);
  return built.with(datasource === undefined ? {} : { datasource }).value;
};

const convertTransformation = (transformation: Fields, ledger: Ledger): Fields => {
  const spec = getSpec(transformation);
  const built = new ClassicBuilder(ledger).copy(spec, sameNames('id', 'options', 'disabled', 'filter', 'topic'));
  if (!('id' in built.value))
    built.copy(transformation, transformation['group'] === undefined ? { kind: 'id' } : { group: 'id' });
  carryKind(transformation, ledger, 'kind', 'group');
  return built.value;
};

/** Converts the panel of an element. */
export const convertElement = (element: Fields, ledger: Ledger): Fields => {
  const spec = getSpec(element);
  carryKind(element, ledger, 'kind');
  const built = new ClassicBuilder(ledger).copy(spec, sameNames('id', 'title', 'description', 'links', 'transparent'));
  if (element['kind'] === 'LibraryPanel') return built.copy(spec, sameNames('libraryPanel')).value;
  const [group, viz] = [spec['data'], spec['vizConfig']];
  const data = getSpec(group);
  carryKind(group, ledger, 'kind');
  if (isFields(viz)) {
    const vizSpec = getSpec(viz);
    built.copy(
      viz,
      viz['group'] === undefined
        ? { kind: 'type', version: 'pluginVersion' }
        : { group: 'type', version: 'pluginVersion' },
    );
    built.copy(vizSpec, sameNames('options', 'fieldConfig', 'pluginVersion'));
    if (viz['group'] !== undefined) carryKind(viz, ledger, 'kind');
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
  const targets = toFieldsList(data['queries']).map((query) => convertTarget(query, ledger));
  const transformations = toFieldsList(data['transformations']).map((one) => convertTransformation(one, ledger));
  return built.with({
    ...(targets.length > 0 && { targets }),
    ...(transformations.length > 0 && { transformations }),
  }).value;
};

const convertVariable = (variable: Fields, ledger: Ledger): Fields => {
  const spec = getSpec(variable);
  const query = spec['query'];
  const built = new ClassicBuilder(ledger)
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
    .copy(spec, { hide: 'hide' }, toHideNumber)
    .copy(spec, { refresh: 'refresh' }, toRefreshNumber)
    .copy(spec, { sort: 'sort' }, toSortNumber)
    .copy(spec, { pluginId: 'query' });
  built.copy(variable, { kind: 'type' }, (kind) => lookUp(variableTypes, String(kind)) ?? String(kind));
  if (!isFields(query)) {
    // Variables of filters and groupings name their data source outside their spec.
    const datasource = convertDataSource(variable, spec['datasource'], ledger);
    return built.copy(spec, { query: 'query' }).with(datasource === undefined ? {} : { datasource }).value;
  }
  carryKind(query, ledger, 'kind');
  ledger.markDefault(query, 'version');
  const querySpec = getSpec(query);
  const legacy = querySpec['__legacyStringValue'];
  if (typeof legacy === 'string') built.copy(querySpec, { __legacyStringValue: 'query' });
  else built.with({ query: querySpec });
  const datasource = convertDataSource(query, spec['datasource'], ledger);
  return built.with(datasource === undefined ? {} : { datasource }).value;
};

const convertAnnotation = (annotation: Fields, ledger: Ledger): Fields => {
  const spec = getSpec(annotation);
  const query = isFields(spec['query']) ? spec['query'] : {};
  carryKind(annotation, ledger, 'kind');
  carryKind(query, ledger, 'kind');
  ledger.markDefault(query, 'version');
  const { legacyOptions } = spec;
  const built = new ClassicBuilder(ledger);
  if (isFields(legacyOptions)) built.copy(legacyOptions, sameNames(...Object.keys(legacyOptions)));
  const querySpec = getSpec(query);
  built.copy(querySpec, sameNames(...Object.keys(querySpec)));
  built.copy(spec, sameNames('name', 'enable', 'hide', 'iconColor', 'filter', 'placement'));
  built.copy(spec, { builtIn: 'builtIn' }, (is) => (is === true ? 1 : is === false ? 0 : is));
  const datasource = convertDataSource(query, spec['datasource'], ledger);
  return built.with(datasource === undefined ? {} : { datasource }).value;
};

/** Converts a dashboard except its panels and layout. */
export const toClassic = (spec: Fields, ledger: Ledger): Fields => {
  const settings = spec['timeSettings'];
  const built = new ClassicBuilder(ledger)
    .copy(spec, sameNames('title', 'description', 'tags', 'editable', 'links', 'liveNow', 'preload', 'revision'))
    .copy(spec, { cursorSync: 'graphTooltip' }, createIndexConverter('Off', 'Crosshair', 'Tooltip'))
    .copy(settings, {
      timezone: 'timezone',
      autoRefresh: 'refresh',
      ...sameNames('weekStart', 'fiscalYearStartMonth'),
    });
  const time = new ClassicBuilder(ledger).copy(settings, sameNames('from', 'to')).value;
  const timepicker = new ClassicBuilder(ledger).copy(settings, {
    hideTimepicker: 'hidden',
    autoRefreshIntervals: 'refresh_intervals',
    ...sameNames('nowDelay'),
    quickRanges: 'quick_ranges',
  }).value;
  return built.with({
    ...(Object.keys(time).length > 0 && { time }),
    ...(Object.keys(timepicker).length > 0 && { timepicker }),
    templating: { list: toFieldsList(spec['variables']).map((one) => convertVariable(one, ledger)) },
    annotations: { list: toFieldsList(spec['annotations']).map((one) => convertAnnotation(one, ledger)) },
  }).value;
};
