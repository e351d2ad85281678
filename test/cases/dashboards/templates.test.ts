/** Dashboard templates use names that senders send, and golden telemetry fills each panel. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import type { QueryReader } from '../../../queries/promql/query-reader.ts';
import type { Query } from '../../../queries/query.ts';
import { runWithoutCost } from '../../../queries/run.ts';
import { parseSearch } from '../../../queries/search/parse.ts';
import type { Search } from '../../../queries/search/tree.ts';
import { signalDefinitions } from '../../../queries/signals/index.ts';
import { resolveReference } from '../../../schemas/fields.ts';
import { defaultPlans, type Plan } from '../../../schemas/resources/plan.ts';
import type { Panel } from '../../../subjects/dashboards/document.ts';
import { assessPanels, collectNeeds, readAvailableData } from '../../../subjects/dashboards/templates/fit.ts';
import { loadTemplates, type Template } from '../../../subjects/dashboards/templates/templates.ts';
import { runSeed, selectPartAt } from '../../parts.ts';
import { openTables, receivedAtMs, type Tables } from '../sink-tables.ts';
import { type Generation, goldenMetrics, goldenRange, landGolden } from './golden-telemetry.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
  await landGolden(tables, 'current', 'current');
  await landGolden(tables, 'former', 'former');
});
test.after.always(() => tables.close());

const reader = (tenantId: string, plan: Partial<Plan> = {}): QueryReader => ({
  columns: tables.columns.forTenant(tenantId),
  plan: { ...(defaultPlans['enterprise'] as Plan), ...plan },
  nowMs: receivedAtMs,
  promql: undefined,
});

const queriesIn = ({ document }: Template): Query[] =>
  document.panels.flatMap(({ queries }) => queries.flatMap(({ query }) => query ?? []));

const keysIn = (search: Search): string[] => {
  if (search.is === 'and' || search.is === 'or') return search.parts.flatMap(keysIn);
  if (search.is === 'not') return keysIn(search.part);
  return search.is === 'value' && search.reference.kind !== 'field' ? [search.reference.key] : [];
};

const attributesOf = (metric: string): ReadonlySet<string> =>
  new Set([
    ...goldenMetrics
      .filter(({ name }) => name === metric)
      .flatMap((one) => [...one.attributes.keys(), ...one.resource]),
    'service',
  ]);

test('every template is a dashboard as code with its own id, and each panel has a query', async (t) => {
  const all = await loadTemplates();
  t.true(all.length >= 25, `${all.length}`);
  t.is(new Set(all.map(({ document }) => document.name)).size, all.length);
  for (const { id, document, panels } of all) t.is(panels.length, document.panels.length, id);
});

test('templates use only metrics and attributes that senders emit', async (t) => {
  const wrong = (await loadTemplates()).flatMap((template) =>
    queriesIn(template).flatMap((query) => {
      if (query.kind !== 'metric') return [];
      if (!goldenMetrics.some(({ name }) => name === query.metric)) return [query.metric];
      const known = attributesOf(query.metric);
      const grouped = query.groupBy.map((name) => resolveReference(signalDefinitions.metrics.fields, name));
      const named = [
        // A field has another meaning than an attribute of the same name, except for the service.
        ...grouped.map((each) =>
          each.kind === 'field' ? each.field.name.replace(/^(?!service$)/, 'field ') : each.key,
        ),
        ...keysIn(parseSearch(query.search ?? '*', 'metrics')),
      ];
      return named.filter((name) => !known.has(name)).map((name) => `${template.id}: ${name} of ${query.metric}`);
    }),
  );
  t.deepEqual(wrong, []);
});

/** The visible queries and formulas of a panel. */
const shownBy = ({ queries, formulas }: Panel): Query[] => {
  const queriesByName = Object.fromEntries(
    queries.flatMap(({ name, query }) => (query === undefined ? [] : [[name, query]])),
  );
  return [
    ...queries.flatMap(({ hidden, query }) => (hidden || query === undefined ? [] : [query])),
    ...formulas.map(({ expression }) => ({ kind: 'formula', expression, queries: queriesByName }) as Query),
  ];
};

const hasData = async (panel: Panel, tenantId: string): Promise<boolean> => {
  const isTable = panel.queries.some(({ answers }) => answers === 'table');
  for (const query of shownBy(panel)) {
    const stepMs = isTable ? undefined : 60_000;
    const { series, rows } = await runWithoutCost(query, reader(tenantId), { range: goldenRange, stepMs });
    const values = series.flatMap(({ points }) => points.map(([, value]) => value));
    if (rows.length > 0 || values.some((value) => typeof value === 'number')) return true;
  }
  return false;
};

/** Panels for whose values a generation of conventions has no name. */
const without: Readonly<Record<Generation, readonly string[]>> = {
  current: ['go: collections'],
  former: [
    ...['dotnet: time-in-pauses', 'dotnet: memory-of-processes'],
    ...['go: allocated', 'go: allocations', 'go: wait-for-a-processor-99-of-100'],
    ...['delay-of-the-event-loop-99-of-100', 'delay-of-the-event-loop-mean'].map((id) => `nodejs: ${id}`),
    ...['heap-by-space', 'heap-in-use', 'collections', 'pauses-99-of-100'].map((id) => `nodejs: ${id}`),
  ],
};

/** Each run tests half of the templates: a random quarter for each generation. */
const drawnFor = (all: readonly Template[], place: number): readonly Template[] => selectPartAt(place, all, 4);

for (const [place, generation] of (['current', 'former'] as const).entries())
  test(`senders of the ${generation} conventions fill every panel that they have data for, as the template fit reports`, async (t) => {
    const empty: string[] = [];
    const missingPanels: string[] = [];
    const chosen = drawnFor(await loadTemplates(), place);
    t.log(`${chosen.length} templates are selected (TEST_SEED=${runSeed})`);
    for (const { id, document, panels } of chosen) {
      const fits = assessPanels(panels, await readAvailableData(reader(generation), collectNeeds(panels)));
      missingPanels.push(...fits.filter(({ missing }) => missing.length > 0).map((panel) => `${id}: ${panel.id}`));
      for (const panel of document.panels) if (!(await hasData(panel, generation))) empty.push(`${id}: ${panel.id}`);
    }
    const ids = chosen.map(({ id }) => id);
    t.deepEqual(
      empty,
      without[generation].filter((panel) => ids.includes(panel.split(':')[0] ?? '')),
    );
    t.deepEqual(missingPanels, empty);
  });

test('a metric known only by its series counts as landed until it is one day old', async (t) => {
  const at = (hoursAgo: number): string =>
    `fromUnixTimestamp64Milli(toInt64(${receivedAtMs - hoursAgo * 3_600_000}), 'UTC')`;
  for (const [id, metric, hoursAgo] of [
    [1, 'otelcol_process_memory_rss_bytes', 1],
    [2, 'otelcol_exporter_queue_size', 25],
  ] as const)
    await tables.columns.execute(
      `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, source, service, resource_id, attributes, attribute_types, first_seen, last_seen)
      SELECT 'bare', 'p', '${metric}', ${id}, 'unknown', 0, 0, '', 'prometheus', '', 0, map('job', 'x'), 's', ${at(30)}, ${at(hoursAgo)}`,
    );
  const metric = (name: string) => ({ kind: 'metric', name }) as const;
  const needs = [metric('otelcol_process_memory_rss_bytes'), metric('otelcol_exporter_queue_size')];
  const landed = await readAvailableData(reader('bare'), needs);
  t.deepEqual(
    needs.map((need) => landed.has(need)),
    [true, false],
  );
});
