/**
 * Answers of the PromQL panels of Grafana's dashboards beside those of a Prometheus with the same samples.
 *
 *     GRAFANA_DASHBOARDS=DIRECTORY node test/bench/dashboard-answers.ts PROMETHEUS
 *
 * PROMETHEUS is its program. Every dashboard below the directory is imported. Its expressions get a value for each variable, and series
 * are made up that their selectors choose and their groupings tell apart: two for each selector, half an hour of them in both. Then all are
 * asked as a dashboard asks them. Numbers are equal to eleven digits. What differs is printed with its expression.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import { parse } from '../../queries/promql/index.ts';
import type { QueryReading } from '../../queries/promql/reading.ts';
import { translationOf } from '../../queries/promql/settings.ts';
import { testOf } from '../../queries/promql/syntax/matchers.ts';
import { type Expression, type VectorSelector, walk } from '../../queries/promql/syntax/tree.ts';
import type { PromqlQuery } from '../../queries/query.ts';
import { answerOnly, queryOf } from '../../queries/run.ts';
import { promqlTogether } from '../../queries/together/promql.ts';
import { inQuery } from '../../queries/variables/in-query.ts';
import { platformVariables } from '../../queries/variables/platform.ts';
import { namesUsed } from '../../queries/variables/references.ts';
import { type Scope, single } from '../../queries/variables/scope.ts';
import { silent } from '../../schemas/ports/log.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { settingsOf } from '../../schemas/settings.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { DashboardFields } from '../../subjects/dashboards/document.ts';
import { readImported } from '../../subjects/dashboards/grafana/documents.ts';
import { grafanaFiles } from '../cases/dashboards/grafana-files.ts';
import { snappy, writeRequestOf } from '../end-to-end/conformance.ts';
import { freePorts } from '../services/ports.ts';

const [program = ''] = process.argv.slice(2);
const intervalMs = 15_000;
const stepMs = 60_000;
const lengthMs = 1_800_000;
const endMs = Math.floor(Date.now() / stepMs) * stepMs - stepMs;
const startMs = endMs - lengthMs;
const steps = lengthMs / intervalMs + 1;
const les = ['0.1', '1', '10', '+Inf'];
/** Series of one metric. */
const mostOfMetric = 60;
const shown = 40;

const platform = platformVariables({ fromMs: startMs, toMs: endMs, stepMs });

/** An expression with a value for each of its variables: a name, or a duration where that is what it takes. */
const filled = (query: PromqlQuery): PromqlQuery | undefined => {
  const names = [...namesUsed(JSON.stringify(query))].filter((name) => !platform.has(name));
  for (const value of ['v0', '5m', '1']) {
    const scope: Scope = new Map([...platform, ...names.map((name) => [name, single(value)] as const)]);
    try {
      const made = inQuery(query, scope) as PromqlQuery;
      parse(made.expression);
      return made;
    } catch {
      // Another kind of value may do.
    }
  }
  return undefined;
};

const dashboards = grafanaFiles().flatMap(({ name, dashboard }) => {
  const read = readImported(JSON.stringify(dashboard));
  if (read === undefined || !('document' in read)) return [];
  const { panels } = DashboardFields.parse(read.document);
  const queries = panels.flatMap(({ queries: all }) =>
    all.flatMap(({ query }) => (query?.kind === 'promql' ? [query] : [])),
  );
  return [{ name, queries }];
});

type Labels = Readonly<Record<string, string>>;
const series = new Map<string, Labels>();
const ofMetric = new Map<string, number>();

/** A value that passes; of a pattern one of its texts, if one does. */
const valueFor = (matchers: VectorSelector['matchers'], name: string, variant: number): string | undefined => {
  const own = matchers.filter((each) => each.name === name);
  const texts = own.flatMap(({ value }) => [value, ...value.replace(/[()^$?]/g, '').split('|')]);
  const plain = texts.map((text) => text.replaceAll(/\.[*+]|\\/g, ''));
  return [`v${variant}`, ...texts, ...plain, ...plain.map((text) => `${text}1`), '200', 'x'].find((text) =>
    own.every((matcher) => testOf(matcher)(text)),
  );
};

const groupedBy = (node: Expression): readonly string[] => {
  if (node.kind === 'aggregation') return node.without ? [] : node.grouping;
  if (node.kind !== 'binary' || node.matching === undefined) return [];
  return [...(node.matching.on ? node.matching.labels : []), ...node.matching.include];
};

/** Labels that an expression groups and matches by. */
const groupingsOf = (expression: string): readonly string[] => {
  const names = new Set(['instance', 'job']);
  walk(parse(expression).expression, (node) => {
    for (const name of groupedBy(node)) names.add(name);
  });
  return [...names].filter((name) => name !== 'le' && name !== '__name__');
};

const addSeries = (labels: Labels): void => {
  const metric = labels['__name__'] ?? '';
  const key = JSON.stringify(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)));
  const count = ofMetric.get(metric) ?? 0;
  if (series.has(key) || count >= mostOfMetric) return;
  ofMetric.set(metric, count + 1);
  series.set(key, labels);
};

const makeUpFor = ({ matchers }: VectorSelector, groupings: readonly string[], variant: number): void => {
  const wanted = new Set([...groupings, ...matchers.map(({ name }) => name)]);
  const pairs = [...wanted].map((name) => [name, valueFor(matchers, name, variant) ?? ''] as const);
  const labels: Labels = Object.fromEntries(pairs.filter(([, value]) => value !== ''));
  const { __name__: metric, le: own } = labels;
  if (metric === undefined) return;
  const isBuckets = metric.endsWith('_bucket') && !les.includes(own ?? '');
  for (const le of isBuckets ? les : ['']) addSeries({ ...labels, ...(le && { le }) });
};

const makeUp = (expression: string): void => {
  const groupings = groupingsOf(expression);
  walk(parse(expression).expression, (node) => {
    if (node.kind === 'selector' && !node.labelsOnly) for (const variant of [0, 1]) makeUpFor(node, groupings, variant);
  });
};

const isCounter = (metric: string): boolean => /_(?:total|count|sum|bucket)$/.test(metric);
/** The same in SQL and here. */
const sampleOf = (id: number, step: number, metric: string, le: string | undefined): number => {
  if (!isCounter(metric)) return (id * 31 + step * 17) % 100;
  return step * (le === undefined ? 1 + (id % 7) : 2 + les.indexOf(le));
};

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const directory = mkdtempSync(join(tmpdir(), 'oiq-bench-answers-'));
const columns = await chdbColumns({ directory: join(directory, 'columns') });
await migrate(columns, silent);

const fill = async (): Promise<void> => {
  const all = [...series.values()];
  for (let from = 0; from < all.length; from += 500) {
    const some = all.slice(from, from + 500);
    const rows = some.map(({ __name__: metric = '', ...labels }, at) => {
      const pairs = Object.entries(labels).flatMap(([name, value]) => [quoted(name), quoted(value)]);
      return `('a', 'p', ${quoted(metric)}, ${from + at + 1}, 'unknown', 'prometheus', map(${pairs.join(', ')}), '', now64(3), now64(3))`;
    });
    await columns.execute(
      `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, source, attributes, attribute_types, first_seen, last_seen) VALUES ${rows.join(', ')}`,
    );
    const growths = some.map(({ __name__: metric = '', le }, at) =>
      isCounter(metric) ? sampleOf(from + at + 1, 1, metric, le) : 0,
    );
    const metrics = some.map(({ __name__: metric = '' }) => quoted(metric));
    await columns.execute(`INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value)
      SELECT 'a', 'p', now64(3), [${metrics.join(', ')}][at + 1], ${from} + at + 1,
        fromUnixTimestamp64Milli(toInt64(${startMs} + step * ${intervalMs}), 'UTC'),
        if([${growths.join(', ')}][at + 1] > 0, step * [${growths.join(', ')}][at + 1], ((${from} + at + 1) * 31 + step * 17) % 100)
      FROM (SELECT intDiv(number, ${steps}) AS at, number % ${steps} AS step FROM numbers(${some.length * steps}))`);
  }
};

const [port = 0] = await freePorts(1);
const url = `http://127.0.0.1:${port}/api/v1`;
writeFileSync(join(directory, 'prometheus.yml'), 'global: {}\nstorage:\n  tsdb:\n    out_of_order_time_window: 24h\n');
const peer = spawn(
  program,
  [
    ...[`--config.file=${join(directory, 'prometheus.yml')}`, `--storage.tsdb.path=${join(directory, 'peer')}`],
    ...[`--web.listen-address=127.0.0.1:${port}`, '--web.enable-remote-write-receiver'],
    '--enable-feature=promql-experimental-functions',
  ],
  { stdio: 'ignore' },
);

const fillPeer = async (): Promise<void> => {
  const headers = {
    ...{ 'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request', 'content-encoding': 'snappy' },
    'x-prometheus-remote-write-version': '2.0.0',
  };
  const all = [...series.values()];
  for (let from = 0; from < all.length; from += 300) {
    const some = all.slice(from, from + 300).map((labels, at) => ({
      labels: Object.entries(labels),
      samples: Array.from({ length: steps }, (_, step) => ({
        value: sampleOf(from + at + 1, step, labels['__name__'] ?? '', labels['le']),
        timestamp: startMs + step * intervalMs,
      })),
    }));
    const body = new Uint8Array(snappy(writeRequestOf(2, some)));
    const answer = await fetch(`${url}/write`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`Prometheus answered ${answer.status}: ${await answer.text()}`);
  }
};

const threads = openPromql();
const reading: QueryReading = {
  columns: columns.of('a'),
  plan: defaultPlans['enterprise'] as Plan,
  nowMs: Date.now(),
  promql: { threads, translation: translationOf(settingsOf({})) },
};
const asked = { range: { from: BigInt(startMs) * 1_000_000n, to: BigInt(endMs) * 1_000_000n }, stepMs };

/** Points by labels, or that there was an error. */
type Found = ReadonlyMap<string, readonly (readonly [number, number])[]> | 'error';

const keyOf = (labels: Labels): string =>
  JSON.stringify(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)));

type Series = readonly {
  readonly labels: Labels;
  readonly points: readonly (readonly [number, number | string | null])[];
}[];
const numberOf = (value: number | string | null): number => Number(String(value).replace(/^([+-])Inf$/, '$1Infinity'));
const foundIn = (all: Series): Found =>
  new Map(
    all.map(({ labels, points }) => [keyOf(labels), points.map(([at, value]) => [at, numberOf(value)] as const)]),
  );

const ownAnswers = async (queries: readonly PromqlQuery[]): Promise<readonly Found[]> => {
  const outcomes = await promqlTogether(queries, reading, asked);
  return Promise.all(
    outcomes.map(async (outcome, at): Promise<Found> => {
      try {
        const answer =
          outcome === undefined
            ? await answerOnly(queryOf(queries[at]), reading, asked)
            : 'answer' in outcome && outcome.answer;
        return answer ? foundIn(answer.series) : 'error';
      } catch {
        return 'error';
      }
    }),
  );
};

const peerAnswer = async (expression: string): Promise<Found> => {
  const parameters = {
    query: expression,
    start: String(startMs / 1000),
    end: String(endMs / 1000),
    step: String(stepMs / 1000),
  };
  const answer = await fetch(`${url}/query_range`, { method: 'POST', body: new URLSearchParams(parameters) });
  const { status, data } = (await answer.json()) as {
    readonly status: string;
    readonly data?: {
      readonly result: readonly { readonly metric: Labels; readonly values?: readonly (readonly [number, string])[] }[];
    };
  };
  if (status !== 'success') return 'error';
  return foundIn(
    (data?.result ?? []).map(({ metric, values = [] }) => ({
      labels: metric,
      points: values.map(([at, value]) => [at * 1000, value] as const),
    })),
  );
};

const isNear = (one: number, other: number): boolean =>
  Object.is(one, other) || one === other || Math.abs(one - other) <= 1e-11 * Math.max(Math.abs(one), Math.abs(other));

const isSame = (one: Found, other: Found): boolean => {
  if (one === 'error' || other === 'error') return one === other;
  if (one.size !== other.size) return false;
  return [...one].every(([key, points]) => {
    const theirs = other.get(key);
    return (
      theirs?.length === points.length &&
      points.every(([at, value], place) => theirs[place]?.[0] === at && isNear(value, theirs[place]?.[1] ?? 0))
    );
  });
};

const told = (found: Found): string =>
  found === 'error'
    ? 'an error'
    : JSON.stringify([...found].slice(0, 2).map(([key, points]) => [key, points.slice(-2)]));

try {
  const byDashboard = dashboards.map(({ name, queries }) => ({ name, filled: queries.map(filled) }));
  const unfilled = byDashboard.flatMap((one) => one.filled).filter((query) => query === undefined).length;
  const whole = byDashboard.map(({ name, filled: all }) => ({
    name,
    queries: all.filter((query) => query !== undefined),
  }));
  for (const { queries } of whole) for (const { expression } of queries) makeUp(expression);
  console.log(
    `${series.size} series of ${ofMetric.size} metrics; ${unfilled} expressions are not read with a plain value`,
  );
  await fill();
  for (let isReady = false; !isReady; )
    isReady = await fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await fillPeer();
  const counts = { same: 0, withPoints: 0, errors: 0, different: 0 };
  for (const { name, queries } of whole) {
    const own = await ownAnswers(queries);
    for (const [at, { expression }] of queries.entries()) {
      const [ours, theirs] = [own[at] ?? 'error', await peerAnswer(expression)];
      if (!isSame(ours, theirs)) {
        counts.different++;
        if (counts.different <= shown)
          console.log(`\n${name}: ${expression}\n  ours ${told(ours)}\n  theirs ${told(theirs)}`);
        continue;
      }
      counts.same++;
      if (ours === 'error') counts.errors++;
      else if (ours.size > 0) counts.withPoints++;
    }
  }
  console.log(
    `\n${counts.same} answers are the same, ${counts.withPoints} of them with points and ${counts.errors} errors; ${counts.different} differ`,
  );
} finally {
  peer.kill('SIGKILL');
  await threads.close();
  await columns.close();
  rmSync(directory, { recursive: true, force: true });
}
process.exit(0);
