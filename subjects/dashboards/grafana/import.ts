/** Converts a Grafana dashboard, and reports the outcome for each leaf value. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { getPromql } from '../../../queries/query-kind.ts';
import {
  findVariableProblems,
  formatVariableProblem,
  type VariableProblem,
} from '../../../queries/variables/in-promql.ts';
import { sortByDependency } from '../../../queries/variables/order.ts';
import { listVariableNames } from '../../../queries/variables/platform.ts';
import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { Variable } from '../../../schemas/dashboards/variables.ts';
import { type FileProblem, toFileProblems } from '../as-code.ts';
import { DashboardFields, DashboardWithParsedPanels, maxVariables, type Panel } from '../document.ts';
import { isBuiltIn, readAnnotation } from './annotations.ts';
import { dashboardDefaults } from './defaults.ts';
import { type UnwrappedDashboard, unwrapDashboard } from './envelope.ts';
import { hiddenVariableName, mergeHiddenData } from './hidden-export.ts';
import { type Layout, type PlacedPanel, readClassicLayout, readResourceLayout } from './layout.ts';
import { type Loss as LeafLoss, Ledger, toFieldsList } from './ledger.ts';
import { getAtPath } from './lens.ts';
import { type ConvertedPanel, readPanel } from './panel.ts';
import { toClassic } from './resource.ts';
import { readSettings } from './settings.ts';
import { Sources, toSourceReference } from './sources.ts';
import { choosesMetrics, describeUnsupported, readVariable } from './variables.ts';
import { assignPanelNumbers, writeDashboard } from './write-dashboard.ts';

const Loss = z.strictObject({ path: z.string().describe('Dotted path in the source'), message: z.string() });
const losses = z.array(Loss).describe('Leaves that are neither converted nor Grafana’s default');
const problems = z.array(z.string()).describe('Reasons why it cannot be queried here, or was not imported');

export const ImportReport = z.strictObject({
  from: z.string().describe('Format of the source: oiq, grafana 39, dashboard.grafana.app/v2'),
  panels: z.array(
    z.strictObject({
      panelId: z.string(),
      title: z.string(),
      sourceType: z.string(),
      outcome: z.enum(['carried', 'reduced', 'placeholder']),
      problems,
      losses,
    }),
  ),
  variables: z.array(
    z.strictObject({ name: z.string(), outcome: z.enum(['carried', 'reduced', 'gone']), problems, losses }),
  ),
  rest: losses.describe('Losses of the dashboard itself, its layout, links and annotations'),
  leaves: z
    .strictObject({ total: z.int(), carried: z.int(), default: z.int(), named: z.int() })
    .describe('Number of leaves, including empty lists and objects; total is the sum of the other counts'),
});
export type ImportReport = z.output<typeof ImportReport>;

export interface Imported {
  readonly id: string;
  /** Whether the document has neither an id nor a uid: the id is that of its title, which others may have too */
  readonly isIdentifiedByTitle: boolean;
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

/** A variable of the source, and the converted one or the reason why there is none. */
type ReadVariable =
  | { readonly variable: Fields; readonly read: Variable }
  | { readonly variable: Fields; readonly read: undefined; readonly reason: string };

const readVariables = (list: readonly Fields[], sources: Sources, ledger: Ledger): ReadVariable[] => {
  const names = new Set<string>();
  return list.map((variable) => {
    const omit = (reason: string): ReadVariable => {
      ledger.clearMarks(variable);
      return { variable, read: undefined, reason };
    };
    if (names.size >= maxVariables) return omit(`it exceeds the maximum of ${maxVariables} variables`);
    const read = readVariable(variable, sources, ledger);
    if (read === undefined) return omit(describeUnsupported(variable, sources));
    if (names.has(read.name)) return omit('a variable before it has the same name');
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
  const visibleVariables = convertedSource.sourceVariables.filter(
    (sourceVariable) => sourceVariable !== hiddenVariable,
  );
  const sources = new Sources(visibleVariables, classic['__inputs'] ?? body['__inputs']);
  const ids = assignPanelIds(layout.panels);
  const settings = readSettings(classic, ledger);
  const variables = readVariables(visibleVariables, sources, ledger);
  for (const visibleVariable of visibleVariables)
    if (visibleVariable['type'] === 'datasource')
      ledger.drop(visibleVariable, 'datasource', 'is not used by a data source variable');
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
  const id = toDashboardId(source.uid, document.name);
  return {
    id,
    document,
    isIdentifiedByTitle: source.uid === undefined,
    report: createReport({ ...convertedSource, id, document, body, panels, variables, ledger }),
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

/** Returns a variable or an annotation with a reference to its data source. */
const toReferencing = (value: unknown): unknown =>
  isFields(value) && 'datasource' in value ? { ...value, datasource: toSourceReference(value['datasource']) } : value;

/** Source fields that are stored with the dashboard itself. */
const collectSourceFields = (
  classic: Fields,
  spec: Fields | undefined,
  layout: Layout,
  ledger: Ledger,
): Record<string, unknown> => {
  const entries = Object.entries(ledger.collectUnmarked(classic))
    .filter(([path]) => !/^(?:panels|rows)(?:\.|$)/.test(path))
    .map(([path, value]) => [path, toReferencing(value)] as const);
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
  readonly id: string;
  readonly document: DashboardFields;
  readonly body: Fields;
  readonly panels: readonly ConvertedPanel[];
  readonly variables: readonly ReadVariable[];
  readonly ledger: Ledger;
}

const createReport = (reported: ReportInput): ImportReport => {
  const { body, source, spec, layout, panels, variables, sourceVariables, ledger, document } = reported;
  const prefix = source.path === '' ? '' : `${source.path}.`;
  const { leaves, countLosses } = createLeafCounter(ledger);
  const found = countLosses(body);
  const variablesPath = `${prefix}${spec === undefined ? 'templating.list' : 'variables'}`;
  const variablePaths = variables.map(({ variable }) => `${variablesPath}.${sourceVariables.indexOf(variable)}`);
  const parts = [...layout.panels.map(({ path }) => path), ...variablePaths];
  const byPart = groupByPart(found, parts);
  const exported = new ExportedParts(reported);
  const names = listVariableNames(document.variables);
  const describe = createProblemText(variables);
  const variableProblems = findProblemsByVariable(document, variables, { names, describe });
  return {
    from: source.from,
    panels: panels.map(({ panel, sourceType, isPlaceholder }, index) => {
      const path = layout.panels[index]?.path ?? '';
      const partLosses = byPart.get(path) ?? [];
      const problems = isPlaceholder ? [] : [...new Set(findPanelProblems(panel, names).map(describe))];
      const isReduced = problems.length > 0 || partLosses.some(({ reason }) => reason === undefined);
      return {
        panelId: panel.id,
        title: panel.title,
        sourceType,
        outcome: isPlaceholder ? 'placeholder' : isReduced ? 'reduced' : 'carried',
        problems,
        losses: exported.describe(partLosses, path, exported.findPanel(panel)),
      };
    }),
    variables: variables.map(({ variable, read }, index) => {
      const name = String(variable['name'] ?? '');
      const path = variablePaths[index] ?? '';
      const partLosses = byPart.get(path) ?? [];
      const problems = variableProblems.get(variable) ?? [];
      const isReduced = problems.length > 0 || partLosses.length > 0;
      return {
        name,
        outcome: read === undefined ? 'gone' : isReduced ? 'reduced' : 'carried',
        problems: [...problems],
        losses: choosesMetrics(variable)
          ? partLosses.map((loss) => ({ path: loss.path, message: sourceChoiceMessage }))
          : exported.describe(partLosses, path, exported.findVariable(name)),
      };
    }),
    rest: exported.describe(byPart.get('') ?? [], source.path, exported.dashboard),
    leaves,
  };
};

const sourceChoiceMessage = 'selected a data source: panels query the metrics of this organization';

/** Returns the text of a problem: variables that were not imported differ from those that never existed. */
const createProblemText = (variables: readonly ReadVariable[]) => {
  const omittedNames = new Set(
    variables.flatMap(({ variable, read }) => (read === undefined ? [variable['name']] : [])),
  );
  return ({ name, problem }: VariableProblem): string =>
    formatVariableProblem({ name, problem: omittedNames.has(name) ? 'was not imported' : problem });
};

const findPanelProblems = ({ queries, repeat }: Panel, names: ReadonlySet<string>): VariableProblem[] => {
  const expressions = queries.flatMap(({ query }) => (query === undefined ? [] : (getPromql(query) ?? [])));
  const isUnknownRepeat = repeat !== null && !names.has(repeat.variable);
  return [
    ...expressions.flatMap((expression) => findVariableProblems(expression, names)),
    ...(isUnknownRepeat ? [{ name: repeat.variable, problem: 'does not exist' }] : []),
  ];
};

/** Why each variable was not imported, or cannot be queried. */
const findProblemsByVariable = (
  document: DashboardFields,
  variables: readonly ReadVariable[],
  { names, describe }: { readonly names: ReadonlySet<string>; readonly describe: (problem: VariableProblem) => string },
): ReadonlyMap<Fields, readonly string[]> => {
  const cycleProblems = new Map(
    sortByDependency(document.variables).map(({ variable, cycleProblem }) => [variable.name, cycleProblem]),
  );
  return new Map(
    variables.map((readVariable) => {
      if (readVariable.read === undefined)
        return [
          readVariable.variable,
          choosesMetrics(readVariable.variable) ? [] : [`it was not imported: ${readVariable.reason}`],
        ];
      const { read } = readVariable;
      const expression = read.kind === 'promql' ? read.expression : 'match' in read ? (read.match ?? '') : '';
      const unknown = findVariableProblems(expression, names).map(describe);
      return [readVariable.variable, [...new Set([cycleProblems.get(read.name) ?? [], unknown].flat())]];
    }),
  );
};

/** The exported dashboard, in which a loss may be restored at its place. */
class ExportedParts {
  readonly dashboard: Fields;
  readonly #body: Fields;
  readonly #isResource: boolean;
  readonly #panels: ReadonlyMap<unknown, Fields>;
  readonly #numbers: ReadonlyMap<string, number>;

  constructor({ id, document, body, spec }: ReportInput) {
    this.dashboard = writeDashboard(document, id);
    this.#body = body;
    this.#isResource = spec !== undefined;
    const panels = toFieldsList(this.dashboard['panels']).flatMap((panel) => [panel, ...toFieldsList(panel['panels'])]);
    this.#panels = new Map(panels.map((panel) => [panel['id'], panel]));
    this.#numbers = assignPanelNumbers(document.panels);
  }

  findPanel({ id }: Panel): Fields | undefined {
    return this.#panels.get(this.#numbers.get(id));
  }

  findVariable(name: string): Fields | undefined {
    return toFieldsList(getAtPath(this.dashboard, ['templating', 'list'])).find(
      (variable) => variable['name'] === name,
    );
  }

  /** Returns losses within the part at a path, with their messages for users. */
  describe(losses: readonly LeafLoss[], partPath: string, part: Fields | undefined): z.output<typeof Loss>[] {
    return losses.map(({ path, reason }) => ({
      path,
      message: reason ?? this.#describeUnsupported(path, partPath, part),
    }));
  }

  #describeUnsupported(path: string, partPath: string, part: Fields | undefined): string {
    const value = getAtPath(this.#body, path.split('.'));
    const keys = path.slice(partPath === '' ? 0 : partPath.length + 1).split('.');
    // The paths of a resource end like those of the classic form.
    const candidates = this.#isResource ? keys.map((_, index) => keys.slice(index)) : [keys];
    const isRestored =
      value !== undefined && candidates.some((candidate) => isDeepStrictEqual(getAtPath(part, candidate), value));
    return isRestored
      ? 'is not supported here; it is stored, and an export contains it'
      : 'is not supported here; it is stored, and an export for Grafana does not contain it';
  }
}

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
