/** A Prometheus that receives samples and Grafana's requests, and the comparison of its responses. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentTypes, snappy } from '../end-to-end/conformance.ts';
import { freePorts } from '../services/ports.ts';
import { eventually } from '../waiting.ts';
import type { QueryTimes } from './grafana-filling.ts';
import { keyOf, type Labels } from './grafana-samples.ts';

// biome-ignore lint/suspicious/noExplicitAny: responses over HTTP, as in their contracts
export type Json = any;

/** Points by labels, or an error. */
export type Found = ReadonlyMap<string, readonly (readonly [number, number])[]> | 'error';
type Points = readonly (readonly [number, number | string | null])[];

const numberOf = (value: number | string | null): number => Number(String(value).replace(/^([+-]?)Inf$/, '$1Infinity'));
export const foundIn = (all: readonly { readonly labels: Labels; readonly points: Points }[]): Found =>
  new Map(
    all.map(({ labels, points }) => [keyOf(labels), points.map(([at, value]) => [at, numberOf(value)] as const)]),
  );

const answerOf = async (
  url: string,
  expression: string,
  { fromMs, toMs, stepMs }: QueryTimes,
  isInstant: boolean,
): Promise<Found> => {
  // Grafana aligns the start to a step, even before the range. Here the first step is within the range.
  const aligned = (ms: number, toward: (value: number) => number): string =>
    String((toward(ms / stepMs) * stepMs) / 1000);
  const body = new URLSearchParams({
    query: expression,
    ...(isInstant
      ? { time: String(toMs / 1000) }
      : { start: aligned(fromMs, Math.ceil), end: aligned(toMs, Math.floor), step: String(stepMs / 1000) }),
  });
  const response = await fetch(`${url}/${isInstant ? 'query' : 'query_range'}`, { method: 'POST', body });
  const { status, data } = (await response.json()) as Json;
  if (status !== 'success') return 'error';
  if (data.resultType === 'scalar') return foundIn([{ labels: {}, points: [[toMs, data.result[1]]] }]);
  return foundIn(
    data.result.map(({ metric, value, values = [value] }: Json) => ({
      labels: metric,
      points: values.map(([at, each]: Json) => [Math.round(at * 1000), each]),
    })),
  );
};

const isNear = (one: number, other: number): boolean =>
  Object.is(one, other) || one === other || Math.abs(one - other) <= 1e-11 * Math.max(Math.abs(one), Math.abs(other));

export const isSame = (one: Found, other: Found): boolean => {
  if (one === 'error' || other === 'error') return one === other;
  if (one.size !== other.size) return false;
  return [...one].every(([key, points]) => {
    const otherPoints = other.get(key);
    return (
      otherPoints?.length === points.length &&
      points.every(
        ([at, value], place) => otherPoints[place]?.[0] === at && isNear(value, otherPoints[place]?.[1] ?? 0),
      )
    );
  });
};

export const describeFound = (found: Found): string =>
  found === 'error'
    ? 'an error'
    : `${found.size} ${JSON.stringify([...found].slice(0, 2).map(([key, points]) => [key, points.length, points.slice(-2)]))}`;

export interface Peer {
  readonly pid: number;
  /** The URL of its API, including `/api/v1`. */
  readonly url: string;
  /** Sends a remote-write request; the body is not yet compressed. */
  write(body: Uint8Array): Promise<void>;
  /** Sends an OTLP request as JSON. Names stay unchanged. */
  writeOtlp(body: string): Promise<void>;
  query(expression: string, times: QueryTimes, isInstant: boolean): Promise<Found>;
  labelValues(label: string, match: string | undefined, times: QueryTimes): Promise<readonly string[]>;
  stop(): void;
}

/** Starts the program. */
export const startPeer = async (program: string): Promise<Peer> => {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/api/v1`;
  const directory = mkdtempSync(join(tmpdir(), 'oiq-bench-answers-'));
  writeFileSync(
    join(directory, 'prometheus.yml'),
    [
      'storage: { tsdb: { out_of_order_time_window: 24h } }',
      'otlp: { translation_strategy: NoTranslation, promote_all_resource_attributes: true }\n',
    ].join('\n'),
  );
  const options = [
    ...[`--config.file=${join(directory, 'prometheus.yml')}`, `--storage.tsdb.path=${join(directory, 'peer')}`],
    ...[`--web.listen-address=127.0.0.1:${port}`, '--web.enable-remote-write-receiver'],
    ...['--web.enable-otlp-receiver', '--enable-feature=promql-experimental-functions,promql-extended-range-selectors'],
  ];
  const child = spawn(program, options, { stdio: 'ignore' });
  const isReady = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually('Prometheus is ready', isReady);
  const headers = {
    'content-type': contentTypes[2],
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '2.0.0',
  };
  return {
    pid: child.pid ?? 0,
    url,
    async write(body) {
      const response = await fetch(`${url}/write`, { method: 'POST', headers, body: new Uint8Array(snappy(body)) });
      if (!response.ok) throw new Error(`Prometheus answered ${response.status}: ${await response.text()}`);
    },
    async writeOtlp(body) {
      const json = { 'content-type': 'application/json' };
      const response = await fetch(`${url}/otlp/v1/metrics`, { method: 'POST', headers: json, body });
      if (!response.ok) throw new Error(`Prometheus answered ${response.status}: ${await response.text()}`);
    },
    query: (expression, times, isInstant) => answerOf(url, expression, times, isInstant),
    async labelValues(label, match, { fromMs, toMs }) {
      const range = { start: String(fromMs / 1000), end: String(toMs / 1000) };
      const parameters = new URLSearchParams({ ...range, ...(match !== undefined && { 'match[]': match }) });
      const { data = [] } = (await (await fetch(`${url}/label/${label}/values?${parameters}`)).json()) as Json;
      return data;
    },
    stop() {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
