/**
 * Compares the results of the PromQL panels of Grafana's dashboards with those of a Prometheus with the same samples.
 *
 *     GRAFANA_DASHBOARDS=DIRECTORY node bin/node.mjs test/bench/dashboard-results.ts PROMETHEUS [mended|apart]
 *
 * PROMETHEUS is the path of its program. Every dashboard in the directory is imported into a running process, and
 * queried three times: unchanged, with the last value of each variable, and with All or several values where possible.
 * Prometheus has the same samples by remote-write, and gets the requests of Grafana: expressions of the source with the
 * same values, at the same steps. Numbers must agree to eleven digits. Differences are printed with their expression.
 * `apart` uses every third dashboard, the ones that were not used for corrections.
 */
import { type GrafanaFile, grafanaFiles } from '../cases/dashboards/grafana-files.ts';
import { type Subject, snappy, startSubject, write, writeRequestOf } from '../end-to-end/conformance.ts';
import { fetchStoredRows } from '../end-to-end/reliability.ts';
import { eventually } from '../waiting.ts';
import {
  type Choice,
  type Fields,
  fieldsIn,
  grafanaText,
  msOf,
  panelsIn,
  type QueryTimes,
  variablesIn,
} from './grafana-filling.ts';
import { generateSeriesFor, type Labels, samplesOf } from './grafana-samples.ts';
import { describeFound, type Found, foundIn, isSame, type Json, type Peer, startPeer } from './prometheus-peer.ts';

const [program = '', part = ''] = process.argv.slice(2);
const lengthMs = 3_600_000;
const endMs = Math.floor(Date.now() / 300_000) * 300_000;
const startMs = endMs - lengthMs;
/** Samples begin this long before the range. */
const beforeMs = 900_000;
const maxPoints = 121;
const shown = 40;

const files = grafanaFiles().filter((_, at) => part === '' || (at % 3 === 2) === (part === 'apart'));

const peer = await startPeer(program);

const request = async ({ oiq, token }: Subject, path: string, body: unknown): Promise<Json> => {
  const response = await fetch(`${oiq.http}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

/** The result of an instant query is a table with labels and a value. */
const foundOf = (result: Json): Found => {
  if (result.form === 'series') return foundIn(result.series);
  const names: readonly string[] = result.columns.map(({ name }: Json) => name);
  return foundIn(
    result.rows.map((row: readonly unknown[]) => {
      const cells = names.map((name, at) => [name, row[at]] as const);
      const labels = cells.filter(([name, value]) => !['time', 'value'].includes(name) && value !== '');
      const at = cells.find(([name]) => name === 'time')?.[1];
      const value = cells.find(([name]) => name === 'value')?.[1] as number | string | null;
      return { labels: Object.fromEntries(labels), points: [[Number(at ?? endMs), value]] };
    }),
  );
};

const send = async (subject: Subject, peer: Peer, all: readonly Labels[]): Promise<void> => {
  let sent = 0;
  for (let from = 0; from < all.length; from += 200) {
    const some = all.slice(from, from + 200).map((labels) => samplesOf(labels, startMs - beforeMs, endMs));
    sent += some.reduce((sum, { samples = [] }) => sum + samples.length, 0);
    const body = writeRequestOf(2, some);
    await peer.write(body);
    const response = await write(subject, 2, snappy(body));
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  }
  await eventually(
    `${sent} samples are stored`,
    async () => (await fetchStoredRows(subject.oiq.http, 'samples')) >= sent,
  );
};

type Variables = readonly {
  readonly name: string;
  readonly options: readonly { readonly value: string }[];
  readonly selected: readonly string[];
}[];

const choicesOf = (
  variables: Variables,
  repeat: Readonly<Record<string, string>> | null,
): ReadonlyMap<string, Choice> => {
  const chosen = variables.map(({ name, options, selected }): [string, Choice] => {
    const isAll = selected[0] === '$__all';
    return [name, { values: isAll ? options.map(({ value }) => value) : selected, isAll }];
  });
  const repeated = Object.entries(repeat ?? {}).map(([name, value]): [string, Choice] => [
    name,
    { values: [value], isAll: false },
  ]);
  return new Map([...chosen, ...repeated]);
};

/** Other values of variables than those of the dashboard: the last of each, or as many as possible. */
const otherChoices = (dashboard: Fields, variables: Variables, isMany: boolean): Record<string, unknown> => {
  const queryVariables = variablesIn(dashboard).filter(({ type }) => type === 'query' || type === 'custom');
  const chosen = queryVariables.flatMap(({ name, multi, includeAll }) => {
    const { options = [] } = variables.find((each) => each.name === name) ?? {};
    const last = options.at(-1)?.value;
    if (last === undefined) return [];
    if (!isMany) return [[String(name), last]];
    if (includeAll === true) return [[String(name), '$__all']];
    return multi === true ? [[String(name), options.slice(0, 2).map(({ value }) => value)]] : [];
  });
  return Object.fromEntries(chosen);
};

const counts = {
  same: 0,
  withPoints: 0,
  refused: 0,
  different: 0,
  without: 0,
  sameOptions: 0,
  differentOptions: 0,
};

interface Source {
  readonly panel: Fields;
  readonly target: Fields;
  /** The name of its result. */
  readonly name: string;
}

/** The PromQL queries of a panel. Names that are invalid here are derived from their index. */
const sourcesIn = (panel: Fields, results: Readonly<Record<string, unknown>>): readonly Source[] => {
  const targets = fieldsIn(panel['targets']).filter(
    ({ expr, hide }) => typeof expr === 'string' && expr !== '' && hide !== true,
  );
  const places = Object.keys(results);
  const nameOf = (refId: unknown, at: number): string => {
    if (typeof refId !== 'string') return String.fromCharCode(65 + at);
    return /^[A-Za-z_]\w*$/.test(refId) ? refId : (places[at] ?? '');
  };
  return targets.map((target, at) => ({ panel, target, name: nameOf(target['refId'], at) }));
};

/** The range and steps of one query of a panel, as defined in the source. */
const timesFor = (
  { panel, target }: Source,
  itemStepMs: number,
  textOf: (text: string, times: QueryTimes) => string,
): QueryTimes => {
  const [range, shift] = [msOf(panel['timeFrom']), msOf(panel['timeShift']) ?? 0];
  const toMs = endMs - shift;
  const plain: QueryTimes = { fromMs: startMs, toMs: endMs, stepMs: itemStepMs, scrapeMs: undefined };
  const lengthOf = (text: unknown): number | undefined =>
    typeof text === 'string' ? msOf(textOf(text, plain)) : undefined;
  const ownMs = lengthOf(target['interval']);
  const plainMs = Math.max(itemStepMs, ownMs ?? 0, lengthOf(panel['interval']) ?? 0);
  return {
    fromMs: range === undefined ? startMs - shift : toMs - range,
    toMs,
    stepMs: plainMs * Number(target['intervalFactor'] ?? 1),
    plainMs,
    scrapeMs: ownMs,
  };
};

const count = (oiqResult: Found, isEqual: boolean): void => {
  if (!isEqual) counts.different++;
  else counts.same++;
  if (isEqual && oiqResult === 'error') counts.refused++;
  if (isEqual && oiqResult !== 'error' && oiqResult.size > 0) counts.withPoints++;
};

const compare = async (file: string, variables: readonly Fields[], source: Source, item: Json, response: Variables) => {
  const { panel, target, name } = source;
  const choices = choicesOf(response, item.repeat);
  const textOf = (text: string, times: QueryTimes): string => grafanaText(text, variables, choices, times);
  const times = timesFor(source, item.stepMs, textOf);
  const result = item.results[name];
  const isInstant = target['instant'] === true && target['range'] !== true;
  const expression = textOf(String(target['expr']), times);
  const peerResult = await peer.query(expression, times, isInstant);
  const oiqResult = result === undefined ? 'error' : foundOf(result);
  const isEqual = isSame(oiqResult, peerResult);
  count(oiqResult, isEqual);
  if (isEqual || counts.different > shown) return;
  const steps = isInstant ? 'at one time' : `every ${times.stepMs} ms, here ${result?.stepMs}`;
  const values = JSON.stringify([...choices].map(([key, choice]) => [key, choice.values]));
  console.log(
    [
      ...['', `${file} ${panel['id']} ${steps} ${values}`, target['expr'], expression],
      `OIQ ${describeFound(oiqResult)} ${result === undefined ? JSON.stringify(item.error) : ''}`,
      `Prometheus ${describeFound(peerResult)}`,
    ].join('\n  '),
  );
};

/** Compares the options of variables with labels of Prometheus, except those with a pattern or their own values. */
const compareOptions = async (file: string, variables: readonly Fields[], response: Variables): Promise<void> => {
  const choices = choicesOf(response, null);
  const times: QueryTimes = { fromMs: startMs, toMs: endMs, stepMs: 60_000, scrapeMs: undefined };
  for (const { name, query, definition, regex, sort, type, staticOptions } of variables) {
    const oiqOptions = response.find((each) => each.name === name)?.options.map(({ value }) => value);
    const text = typeof query === 'string' ? query : String(definition ?? '');
    const [, match, label = ''] = /^\s*label_values\((?:(.*),)?\s*(\w+)\s*\)\s*$/s.exec(text) ?? [];
    if (
      type !== 'query' ||
      staticOptions !== undefined ||
      label === '' ||
      oiqOptions === undefined ||
      (regex ?? '') !== '' ||
      Number(sort ?? 0) > 1
    )
      continue;
    const selector = match === undefined ? undefined : grafanaText(match, variables, choices, times);
    const peerOptions = await peer.labelValues(label, selector, times);
    const isEqual = JSON.stringify(oiqOptions) === JSON.stringify(peerOptions);
    if (isEqual) counts.sameOptions++;
    else {
      counts.differentOptions++;
      console.log(
        `\n${file} variable ${name}: ${text}\n  OIQ ${oiqOptions.join(' ')}\n  Prometheus ${peerOptions.join(' ')}`,
      );
    }
  }
};

/** Panels with their own ID, by the ID that they have here. */
const sourcesOf = (dashboard: Fields): ReadonlyMap<string, Fields> => {
  const all = Map.groupBy(panelsIn(dashboard), ({ id }) => `panel-${id}`);
  return new Map([...all].flatMap(([id, panels]) => (panels.length === 1 ? [[id, panels[0] as Fields]] : [])));
};

const compareAll = async (subject: Subject, { name, dashboard }: GrafanaFile): Promise<void> => {
  const { dashboard: convertedDashboard, report } = await request(subject, '/api/dashboards/import', dashboard);
  const placeholders = new Set(
    report.panels.filter(({ outcome }: Json) => outcome === 'placeholder').map(({ panelId }: Json) => panelId),
  );
  const sources = sourcesOf(dashboard);
  const variables = variablesIn(dashboard);
  let chosen: Record<string, unknown> = {};
  for (const round of [0, 1, 2]) {
    const question = { from: String(startMs), to: String(endMs), maxPoints, variables: chosen, annotations: false };
    const response = await request(subject, `/api/dashboards/${convertedDashboard.id}/query`, question);
    await compareOptions(name, variables, response.variables);
    for (const item of response.items) {
      const panel = sources.get(item.panelId);
      if (panel === undefined || placeholders.has(item.panelId)) counts.without++;
      else
        for (const source of sourcesIn(panel, item.results))
          await compare(name, variables, source, item, response.variables);
    }
    chosen = otherChoices(dashboard, response.variables, round === 1);
    if (Object.keys(chosen).length === 0) return;
  }
};

const subject = await startSubject({ OIQ_API_REQUESTS_PER_SECOND: '100000' });

try {
  const series = generateSeriesFor(files.map(({ dashboard }) => dashboard));
  console.log(`${files.length} dashboards, ${series.length} series made up`);
  await send(subject, peer, series);
  for (const file of files) await compareAll(subject, file);
  const { same, withPoints, refused, different, without } = counts;
  console.log(`\n${same} answers are the same, ${withPoints} of them with points, ${refused} refused by both`);
  console.log(`${different} differ`);
  console.log(`${counts.sameOptions} variables offer the same, ${counts.differentOptions} something else`);
  console.log(`${without} panels are not compared: those of other data sources, and those without an id of their own`);
} finally {
  peer.stop();
  await subject.close();
}
process.exit(0);
