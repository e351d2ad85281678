/**
 * Compares the results of the metric queries of templates with those of a Prometheus with the same samples.
 *
 *     node bin/node.mjs test/bench/template-results.ts PROMETHEUS
 *
 * PROMETHEUS is the path of its program. All metrics of `golden-names.txt`, in current and former conventions, are sent
 * over OTLP to a running process and to a Prometheus that leaves their names unchanged. Each metric query of each
 * template is run alone, and translated to PromQL as documented in `docs/reference/metric-functions.md`. Ranges are
 * `anchored`, which does not extrapolate, like OIQ. Differences are printed.
 */
import { type GoldenMetric, goldenMetrics } from '../cases/dashboards/golden-telemetry.ts';
import { startSubject } from '../end-to-end/conformance.ts';
import { fetchStoredRows } from '../end-to-end/reliability.ts';
import { eventually } from '../waiting.ts';
import type { Labels } from './grafana-samples.ts';
import { describeFound, type Found, foundIn, isSame, type Json, startPeer } from './prometheus-peer.ts';

const [program = ''] = process.argv.slice(2);
const stepMs = 60_000;
const everyMs = 15_000;
/** Samples avoid step boundaries, where Prometheus and OIQ assign them to different steps. */
const offsetMs = 7_000;
const toMs = Math.floor(Date.now() / stepMs) * stepMs;
const fromMs = toMs - 1_800_000;
const beforeMs = 600_000;

const valueFor = (key: string, variant: number): string => `${key.length}-${variant}`;
const attribute = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
const nanoseconds = (ms: number): string => String(BigInt(ms) * 1_000_000n);

/** As many attribute sets as the attribute with the most values has, at least two. */
const setsOf = ({ attributes }: GoldenMetric): object[][] => {
  const maxCount = Math.max(2, ...[...attributes.values()].map(({ length }) => length));
  const named = ([key, values]: readonly [string, readonly string[]], variant: number): object =>
    attribute(key, values.length > 1 ? (values[variant % values.length] ?? '') : valueFor(key, variant));
  const all = Array.from({ length: maxCount }, (_, variant) => [...attributes].map((each) => named(each, variant)));
  return attributes.size === 0 ? all.slice(0, 1) : all;
};

const bounds = [0.1, 0.5, 2];

/** The growth differs between steps and series. Counters are reset twice. */
const pointsOf = ({ kind }: GoldenMetric, attributes: object[], seed: number): object[] => {
  const times = Array.from(
    { length: (toMs - fromMs + beforeMs) / everyMs },
    (_, at) => fromMs - beforeMs + at * everyMs + offsetMs,
  );
  let [startMs, total, sum] = [(times[0] ?? 0) - everyMs, 0, 0];
  let buckets = [0, 0, 0, 0];
  return times.map((ms, at) => {
    if (at % 61 === 60) [startMs, total, sum, buckets] = [ms - 1, 0, 0, [0, 0, 0, 0]];
    const grown = 1 + ((seed * 7 + at * 13) % 11);
    total += grown;
    sum += grown / 8;
    buckets = buckets.map((count, place) => count + ((seed + at + place * grown) % 5));
    const shared = { attributes, timeUnixNano: nanoseconds(ms), startTimeUnixNano: nanoseconds(startMs) };
    if (kind !== 'h') return { ...shared, asDouble: kind === 'c' ? total : ((seed * 31 + at * 17) % 100) / 4 };
    const count = buckets.reduce((one, other) => one + other, 0);
    return { ...shared, count, sum, explicitBounds: bounds, bucketCounts: buckets.map(String) };
  });
};

const metricOf = (metric: GoldenMetric, variant: number, seed: number): object => {
  const dataPoints = setsOf(metric).flatMap((set, at) => pointsOf(metric, set, seed + variant * 3 + at));
  const shared = { aggregationTemporality: 2, dataPoints };
  if (metric.kind === 'h') return { name: metric.name, histogram: shared };
  return metric.kind === 'g'
    ? { name: metric.name, gauge: { dataPoints } }
    : { name: metric.name, sum: { ...shared, isMonotonic: metric.kind === 'c' } };
};

/** Each metric from two senders, with distinct labels. */
const requests = (): string[] =>
  goldenMetrics.map((metric, at) => {
    const senders = metric.resource.length === 0 ? [1] : [1, 2];
    const resourceMetrics = senders.map((variant) => ({
      resource: { attributes: metric.resource.map((key) => attribute(key, valueFor(key, variant))) },
      scopeMetrics: [{ scope: { name: `golden ${variant}` }, metrics: [metricOf(metric, variant, at)] }],
    }));
    return JSON.stringify({ resourceMetrics });
  });

/** The name of a group label in Prometheus. */
const labelOf = (name: string): string => (name === 'service' ? 'service.name' : name.replace(/^attribute\./, ''));
const quoted = (text: string): string => JSON.stringify(text);

/** Alternative matchers for the searches of templates; a series must match one of them. */
const matchersOf = (search = ''): readonly string[] => {
  if (search === '') return [''];
  const [, excluded] = /^NOT \(([^()]+)\)$/.exec(search) ?? [];
  const pairs = (excluded ?? search).split(' OR ').map((each) => each.split(':') as [string, string]);
  return excluded === undefined
    ? pairs.map(([key, value]) => `,${quoted(key)}=${quoted(value)}`)
    : [pairs.map(([key, value]) => `,${quoted(key)}!=${quoted(value)}`).join('')];
};

/** One value of each series in each window. */
const overWindows = (kind: GoldenMetric['kind'], { metric, overTime, search }: Json): string => {
  const of = (make: (matchers: string) => string): string => matchersOf(search).map(make).join(' or ');
  const named = (suffix: string) => (matchers: string) => `{${quoted(metric + suffix)}${matchers}}`;
  const range = `[${stepMs}ms]`;
  const grown = (name: string, suffix: string): string =>
    of((matchers) => `${name}(${named(suffix)(matchers)}${range} anchored)`);
  if (overTime === 'quantile') return grown('increase', '_bucket');
  if (overTime === 'rate' || overTime === 'increase') return grown(overTime, kind === 'h' ? '_count' : '');
  if (kind === 'h') return overTime === 'sum' ? grown('increase', '_sum') : `unknown_${overTime}`;
  return overTime === 'last'
    ? of(named(''))
    : of((matchers) => `${overTime}_over_time(${named('')(matchers)}${range})`);
};

const expressionOf = (kind: GoldenMetric['kind'], query: Json): string => {
  const by = (query.groupBy as string[]).map(labelOf);
  const each = overWindows(kind, query);
  const groups = (more: readonly string[]): string => [...by, ...more].map(quoted).join(', ');
  return query.overTime === 'quantile'
    ? `histogram_quantile(${query.quantile}, sum by (${groups(['le'])}) (${each}))`
    : `${query.across} by (${groups([])}) (${each})`;
};

/** OIQ reports a point at the start of its step, Prometheus at the end. Empty labels are omitted. */
const foundOf = (series: Json, laterMs: number): Found =>
  foundIn(
    series.map(({ labels, points }: { labels: Labels; points: (readonly [number, number | null])[] }) => ({
      labels: Object.fromEntries(
        Object.entries(labels).flatMap(([name, value]) => (value === '' ? [] : [[labelOf(name), value]])),
      ),
      points: points.flatMap(([at, value]) => (value === null || at >= toMs ? [] : [[at + laterMs, value] as const])),
    })),
  );

const subject = await startSubject({ OIQ_API_REQUESTS_PER_SECOND: '100000' });
const peer = await startPeer(program);

const request = async (method: string, path: string, body?: unknown): Promise<Json> => {
  const headers = { authorization: `Bearer ${subject.token}`, 'content-type': 'application/json' };
  const response = await fetch(`${subject.oiq.http}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

const counts = { same: 0, withPoints: 0, different: 0, without: 0 };

const compare = async (place: string, query: Json, result: Json): Promise<void> => {
  const { kind } = goldenMetrics.find(({ name }) => name === query.metric) ?? {};
  if (kind === undefined || result === undefined) throw new Error(`${place}: ${query.metric} is not answered`);
  const expression = expressionOf(kind, query);
  const times = { fromMs: fromMs + stepMs, toMs, stepMs, scrapeMs: undefined };
  const peerResult = await peer.query(expression, times, false);
  const oiqResult = foundOf(result.series, stepMs);
  const isEqual = isSame(oiqResult, peerResult);
  counts[isEqual ? 'same' : 'different']++;
  if (isEqual && oiqResult !== 'error' && oiqResult.size > 0) counts.withPoints++;
  if (!isEqual)
    console.log(
      `\n${place} ${expression}\n  OIQ ${describeFound(oiqResult)}\n  Prometheus ${describeFound(peerResult)}`,
    );
};

/** Each query in its own panel and visible, so that formulas neither change its steps nor hide it. */
const alone = (document: Json): Json => ({
  ...document,
  panels: document.panels.map((panel: Json) => ({
    ...panel,
    formulas: [],
    transformations: [],
    queries: panel.queries.map((query: Json) => ({ ...query, hidden: false })),
  })),
});

try {
  const all = requests();
  let points = 0;
  for (const body of all) {
    points += body.split('"timeUnixNano"').length - 1;
    await peer.writeOtlp(body);
    const headers = { 'content-type': 'application/json', 'x-license-key': subject.licenseKey };
    const apiResponse = await fetch(`${subject.oiq.http}/otlp/v1/metrics`, { method: 'POST', headers, body });
    if (!apiResponse.ok) throw new Error(`${apiResponse.status}: ${await apiResponse.text()}`);
  }
  console.log(`${all.length} metrics, ${points} points`);
  const landed = async (): Promise<number> => {
    const rows = ['samples', 'histograms'].map((table) => fetchStoredRows(subject.oiq.http, table));
    return (await Promise.all(rows)).reduce((one, other) => one + other, 0);
  };
  await eventually('all points are stored', async () => (await landed()) >= points);
  for (const { id } of (await request('GET', '/api/templates')).items) {
    const draft = alone((await request('GET', `/api/templates/${id}`)).document);
    const created = await request('POST', `/api/templates/${id}/instantiate`, {});
    const question = { from: String(fromMs), to: String(toMs), step: `${stepMs}ms`, draft, annotations: false };
    const { items } = await request('POST', `/api/dashboards/${created.id}/query`, question);
    for (const [at, panel] of draft.panels.entries())
      for (const { name, query } of panel.queries)
        if (query.kind === 'metric') await compare(`${id} ${panel.id} ${name}`, query, items[at].results[name]);
        else counts.without++;
  }
  console.log(
    `\n${counts.same} answers are the same, ${counts.withPoints} of them with points; ${counts.different} differ`,
  );
  console.log(`${counts.without} queries are of other kinds`);
} finally {
  peer.stop();
  await subject.close();
}
process.exit(0);
