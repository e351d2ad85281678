/** Converts a Grafana dashboard, and reports the outcome for each leaf value. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { type FileProblem, toFileProblems } from '../as-code.ts';
import { DashboardFields, DashboardWithParsedPanels } from '../document.ts';
import { isBuiltIn, readAnnotation } from './annotations.ts';
import { dashboardDefaults } from './defaults.ts';
import { type UnwrappedDashboard, unwrapDashboard } from './envelope.ts';
import { type Layout, type PlacedPanel, readClassicLayout, readResourceLayout } from './layout.ts';
import { type Loss as LeafLoss, Ledger, toFieldsList } from './ledger.ts';
import { getAtPath } from './lens.ts';
import { type ConvertedPanel, readPanel } from './panel.ts';
import { toClassic } from './resource.ts';
import { readSettings } from './settings.ts';
import { Sources } from './sources.ts';
import { hiddenVariableName, mergeHiddenData } from './travelling.ts';
import { choosesMetrics, readVariable } from './variables.ts';

const Loss = z.strictObject({ path: z.string().describe('Dotted path in the source'), message: z.string() });
const losses = z.array(Loss).describe('Leaves that are neither converted nor Grafana’s default');

export const ImportReport = z.strictObject({
  from: z.string().describe('Format of the source: oiq, grafana 39, dashboard.grafana.app/v2'),
  panels: z.array(
    z.strictObject({
      panelId: z.string(),
      title: z.string(),
      sourceType: z.string(),
      outcome: z.enum(['carried', 'reduced', 'placeholder']),
      losses,
    }),
  ),
  variables: z.array(z.strictObject({ name: z.string(), outcome: z.enum(['carried', 'reduced', 'gone']), losses })),
  rest: losses.describe('Losses of the dashboard itself, its layout, links and annotations'),
  leaves: z
    .strictObject({ total: z.int(), carried: z.int(), default: z.int(), named: z.int() })
    .describe('Number of leaves, including empty lists and objects; total is the sum of the other counts'),
});
export type ImportReport = z.output<typeof ImportReport>;

export interface Imported {
  readonly id: string;
  readonly document: DashboardFields;
  readonly report: ImportReport;
}

/** Returns the ID of the dashboard for an import with this UID, or with this name without a UID. */
export const toDashboardId = (uid: string | undefined, name: string): string => {
  if (uid !== undefined && /^[A-Za-z0-9][\w-]{0,127}$/.test(uid)) return uid;
  const hash = createHash('sha256')
    .update(uid ?? `name:${name}`)
    .digest('hex');
  return `import-${hash.slice(0, 24)}`;
};

/** Returns unique panel IDs, from the numbers of the panels. */
const assignPanelIds = (panels: readonly PlacedPanel[]): string[] => {
  const usedIds = new Set<string>();
  const numbers = panels.map(({ panel: { id } }) =>
    Number.isSafeInteger(id) && Number(id) >= 0 ? Number(id) : undefined,
  );
  let next = Math.max(0, ...numbers.filter((one) => one !== undefined)) + 1;
  return numbers.map((number) => {
    let id = `panel-${number ?? next++}`;
    while (usedIds.has(id)) id = `panel-${next++}`;
    usedIds.add(id);
    return id;
  });
};

interface LeafCounter {
  readonly leaves: { total: number; carried: number; default: number; named: number };
  countLosses(value: unknown): LeafLoss[];
}

const toLosses = (losses: readonly LeafLoss[]) => losses.map(({ path, message }) => ({ path, message }));

const createLeafCounter = (ledger: Ledger): LeafCounter => {
  const leaves = { total: 0, carried: 0, default: 0, named: 0 };
  return {
    leaves,
    countLosses(value) {
      const found: LeafLoss[] = [];
      const counts = ledger.count(value, (loss) => found.push(loss));
      for (const key of ['carried', 'default', 'named'] as const) {
        leaves[key] += counts[key];
        leaves.total += counts[key];
      }
      return found;
    },
  };
};

const readVariables = (list: readonly Fields[], sources: Sources, ledger: Ledger) => {
  const names = new Set<string>();
  return list.map((variable) => {
    const read = names.size < 50 ? readVariable(variable, sources, ledger) : undefined;
    const isDuplicate = read !== undefined && names.has(read.name);
    if (isDuplicate) ledger.clearMarks(variable);
    if (read === undefined || isDuplicate) return { variable, read: undefined };
    names.add(read.name);
    return { variable, read };
  });
};

const Annotations = DashboardFields.shape.annotations.unwrap();

const readAnnotations = (list: readonly Fields[], ids: ReadonlySet<string>, sources: Sources, ledger: Ledger) => {
  const names = new Set<string>();
  return list.flatMap((annotation) => {
    if (isBuiltIn(annotation)) {
      ledger.markDefault(annotation, ...Object.keys(annotation));
      return [];
    }
    const parsed = Annotations.safeParse([readAnnotation(annotation, sources, ledger)]);
    const [read] = parsed.data ?? [];
    if (read === undefined || names.has(read.name) || names.size >= 50) {
      ledger.clearMarks(annotation);
      return [];
    }
    names.add(read.name);
    return [
      read.panels === null
        ? read
        : { ...read, panels: { ...read.panels, ids: read.panels.ids.filter((id) => ids.has(id)) } },
    ];
  });
};

/** A dashboard that is converted to the current classic form. */
interface ConvertedSource {
  readonly source: UnwrappedDashboard;
  readonly classic: Fields;
  /** The original resource. */
  readonly spec: Fields | undefined;
  readonly layout: Layout;
  /** Variables in source form. */
  readonly sourceVariables: readonly Fields[];
  /** The variable of an export with the data that Grafana's form lacks. */
  readonly hiddenVariable: Fields | undefined;
}

const convertSource = (source: UnwrappedDashboard, ledger: Ledger): ConvertedSource => {
  const { dashboard, path } = source;
  const spec = source.form === 'resource' ? dashboard : undefined;
  const classic = spec === undefined ? dashboard : toClassic(spec, ledger);
  const layout =
    spec === undefined
      ? readClassicLayout(dashboard, path, ledger)
      : readResourceLayout(spec, path === '' ? '' : `${path}.`, ledger);
  const sourceVariables = toFieldsList(getAtPath(classic, ['templating', 'list']));
  const hiddenVariable = sourceVariables.find(({ type, name }) => type === 'constant' && name === hiddenVariableName);
  if (hiddenVariable !== undefined) ledger.carry(hiddenVariable, ...Object.keys(hiddenVariable));
  return { source, classic, spec, layout, sourceVariables, hiddenVariable };
};

const validateDashboard = (document: object, travelled: Fields | undefined) => {
  const first = DashboardWithParsedPanels.safeParse(document);
  return first.success && travelled !== undefined
    ? DashboardFields.safeParse(mergeHiddenData(toStoredForm(first.data), String(travelled['query'])))
    : first;
};

/**
 * Parses a Grafana document. Returns undefined for other documents, and problems if it cannot be converted to a
 * dashboard.
 */
export const readGrafana = (body: unknown): Imported | { readonly problems: readonly FileProblem[] } | undefined => {
  const ledger = new Ledger();
  const source = isFields(body) ? unwrapDashboard(body, ledger) : undefined;
  if (source === undefined || !isFields(body)) return undefined;
  const convertedSource = convertSource(source, ledger);
  const { classic, spec, layout, hiddenVariable } = convertedSource;
  const visibleVariables = convertedSource.sourceVariables.filter((one) => one !== hiddenVariable);
  const sources = new Sources(visibleVariables, classic['__inputs'] ?? body['__inputs']);
  const ids = assignPanelIds(layout.panels);
  const settings = readSettings(classic, ledger);
  const variables = readVariables(visibleVariables, sources, ledger);
  for (const one of visibleVariables)
    if (one['type'] === 'datasource') ledger.drop(one, 'datasource', 'is not used by a data source variable');
  const panels = layout.panels.map((placedPanel, index) => readPanel(placedPanel, ids[index] ?? '', sources, ledger));
  const annotations = readAnnotations(
    toFieldsList(getAtPath(classic, ['annotations', 'list'])),
    new Set(ids),
    sources,
    ledger,
  );
  markRemainingDefaults(classic, spec, ledger);
  const sourceFields = collectSourceFields(classic, spec, layout, ledger);
  const parsed = validateDashboard(
    {
      ...settings,
      variables: variables.flatMap(({ read }) => read ?? []),
      sections: layout.sections.map(({ repeat, ...section }) => ({
        ...section,
        ...(repeat !== undefined && { repeat: { variable: repeat } }),
      })),
      panels: panels.map(({ panel }) => panel),
      annotations,
      ...(Object.keys(sourceFields).length > 0 && { imported: { from: 'grafana', unmapped: sourceFields } }),
    },
    hiddenVariable,
  );
  if (!parsed.success) return { problems: toFileProblems(parsed.error) };
  const document = toStoredForm(parsed.data);
  return {
    id: toDashboardId(source.uid, document.name),
    document,
    report: createReport({ ...convertedSource, body, panels, variables, ledger }),
  };
};

/** Returns a document as it is stored: without undefined members. */
const toStoredForm = (document: DashboardFields): DashboardFields =>
  JSON.parse(JSON.stringify(document)) as DashboardFields;

const markRemainingDefaults = (classic: Fields, spec: Fields | undefined, ledger: Ledger): void => {
  for (const [key, value] of Object.entries(classic)) {
    if (key === 'panels' || key === 'rows' || ledger.findMark(classic, key) !== undefined) continue;
    const holder = { [key]: value };
    ledger.alias(holder, key, [classic, key]);
    ledger.markDefaults(holder, dashboardDefaults);
  }
  if (spec !== undefined) ledger.markDefaults(spec['layout']);
};

/** Converts a data source name to an object, as in Grafana since version 8. */
const toSourceReference = (value: unknown): unknown =>
  isFields(value) && typeof value['datasource'] === 'string'
    ? { ...value, datasource: { uid: value['datasource'] } }
    : value;

/** Source fields that are stored with the dashboard itself. */
const collectSourceFields = (
  classic: Fields,
  spec: Fields | undefined,
  layout: Layout,
  ledger: Ledger,
): Record<string, unknown> => {
  const entries = Object.entries(ledger.collectUnmarked(classic))
    .filter(([path]) => !/^(?:panels|rows)(?:\.|$)/.test(path))
    .map(([path, value]) => [path, toSourceReference(value)] as const);
  if (spec === undefined) return Object.fromEntries(entries);
  const placedElements = new Set(layout.panels.map(({ source }) => source));
  const elements = isFields(spec['elements']) ? spec['elements'] : {};
  const unplacedElements = Object.entries(elements).filter(
    ([, element]) => isFields(element) && !placedElements.has(element),
  );
  const others = ledger.collectUnmarked({ layout: spec['layout'], elements: Object.fromEntries(unplacedElements) });
  return { ...Object.fromEntries(entries), ...others };
};

interface ReportInput extends ConvertedSource {
  readonly body: Fields;
  readonly panels: readonly ConvertedPanel[];
  readonly variables: readonly { readonly variable: Fields; readonly read: object | undefined }[];
  readonly ledger: Ledger;
}

const createReport = (reported: ReportInput): ImportReport => {
  const { body, source, spec, layout, panels, variables, sourceVariables, ledger } = reported;
  const isResource = spec !== undefined;
  const prefix = source.path === '' ? '' : `${source.path}.`;
  const { leaves, countLosses } = createLeafCounter(ledger);
  const found = countLosses(body);
  const variablesPath = `${prefix}${isResource ? 'variables' : 'templating.list'}`;
  const variablePaths = variables.map(({ variable }) => `${variablesPath}.${sourceVariables.indexOf(variable)}`);
  const parts = [...layout.panels.map(({ path }) => path), ...variablePaths];
  const byPart = groupByPart(found, parts);
  return {
    from: source.from,
    panels: panels.map(({ panel, sourceType, isPlaceholder }, index) => {
      const partLosses = byPart.get(layout.panels[index]?.path ?? '') ?? [];
      const outcome = isPlaceholder
        ? 'placeholder'
        : partLosses.some(({ isUnsupported }) => isUnsupported)
          ? 'reduced'
          : 'carried';
      return { panelId: panel.id, title: panel.title, sourceType, outcome, losses: toLosses(partLosses) };
    }),
    variables: variables.map(({ variable, read }, index) => {
      const name = String(variable['name'] ?? '');
      const variableLosses = (byPart.get(variablePaths[index] ?? '') ?? []).map((loss) =>
        choosesMetrics(variable)
          ? { ...loss, message: 'selected a data source: panels query the metrics of this organization' }
          : loss,
      );
      return {
        name,
        outcome: read === undefined ? 'gone' : variableLosses.length > 0 ? 'reduced' : 'carried',
        losses: toLosses(variableLosses),
      };
    }),
    rest: toLosses(byPart.get('') ?? []),
    leaves,
  };
};

/** Groups losses by the part that contains them; those outside of all parts have the empty path. */
const groupByPart = (found: readonly LeafLoss[], parts: readonly string[]): Map<string, LeafLoss[]> => {
  const partPaths = new Set(parts);
  const findPart = (path: string): string => {
    for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
      const part = path.slice(0, end);
      if (partPaths.has(part)) return part;
    }
    return '';
  };
  return Map.groupBy(found, ({ path }) => findPart(path));
};
