/** A running installation for conformance tests: sent data is read back through the API and from the tables. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compressSnappy } from '../../schemas/compression.ts';
import { writeRequestTypes } from '../cases/proto/load.ts';
import { embeddedDeployment, withoutLimits } from './deployment.ts';
import { type OiqProcess, signIn, startOiq } from './oiq-process.ts';

const readBack = fileURLToPath(new URL('./read-back.ts', import.meta.url));

export interface Subject {
  readonly oiq: OiqProcess;
  readonly licenseKey: string;
  /** Bearer token of the management API. */
  readonly token: string;
  /** Stops the process. After that its tables can be queried. */
  stop(): Promise<void>;
  /** Rows of its tables with the engine's types as JSON. Call it only after `stop`. */
  rows<Row>(sql: string): Promise<Row[]>;
  close(): Promise<void>;
}

export const startSubject = async (environment: Readonly<Record<string, string>> = {}): Promise<Subject> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'oiq-conformance-'));
  const licenseKey = await embeddedDeployment(dataDirectory);
  const oiq = await startOiq({ dataDirectory, environment: { ...withoutLimits, ...environment } });
  return {
    oiq,
    licenseKey,
    token: await signIn(oiq.http),
    async stop() {
      const code = await oiq.stop();
      if (code !== 0) throw new Error(`the process ended with ${code}:\n${oiq.output()}`);
    },
    async rows<Row>(sql: string) {
      const args = ['--disable-warning=ExperimentalWarning', readBack, join(dataDirectory, 'columns', 'engine'), sql];
      const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1024 ** 3 });
      const lines = stdout.split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as Row);
    },
    async close() {
      await oiq.kill();
      await rm(dataDirectory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};

export type Tree = Readonly<Record<string, unknown>>;

/** A time series as written in tests; `labels` in the order in which they are sent. */
export interface TimeSeries {
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly samples?: readonly Tree[];
  readonly histograms?: readonly Tree[];
  readonly exemplars?: readonly (Tree & { readonly labels: readonly (readonly [name: string, value: string])[] })[];
  readonly metadata?: { readonly type: number; readonly help: string; readonly unit: string };
}

const encoded = (version: 1 | 2, tree: Tree): Buffer => {
  const type = writeRequestTypes[version];
  return Buffer.from(type.encode(type.fromObject(tree)).finish());
};

const labelsOf = (labels: TimeSeries['labels']): Tree[] => labels.map(([name, value]) => ({ name, value }));

/** A remote-write request, not yet compressed. */
export const writeRequestOf = (version: 1 | 2, series: readonly TimeSeries[]): Buffer => {
  if (version === 1) {
    const timeseries = series.map(({ labels, exemplars = [], metadata: _, ...rest }) => ({
      ...rest,
      labels: labelsOf(labels),
      exemplars: exemplars.map((one) => ({ ...one, labels: labelsOf(one.labels) })),
    }));
    return encoded(1, { timeseries });
  }
  const symbols = [''];
  const refOf = (text: string): number => {
    const known = symbols.indexOf(text);
    return known < 0 ? symbols.push(text) - 1 : known;
  };
  const refsOf = (labels: TimeSeries['labels']): number[] =>
    labels.flatMap(([name, value]) => [refOf(name), refOf(value)]);
  const timeseries = series.map(({ labels, exemplars = [], metadata, ...rest }) => ({
    ...rest,
    labelsRefs: refsOf(labels),
    exemplars: exemplars.map(({ labels: own, ...one }) => ({ ...one, labelsRefs: refsOf(own) })),
    ...(metadata && {
      metadata: { type: metadata.type, helpRef: refOf(metadata.help), unitRef: refOf(metadata.unit) },
    }),
  }));
  return encoded(2, { symbols, timeseries });
};

export const contentTypes = {
  1: 'application/x-protobuf',
  2: 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
} as const;

/** Sends a compressed remote-write body, like Prometheus. Headers with the value `undefined` are omitted. */
export const write = async (
  { oiq, licenseKey }: Subject,
  version: 1 | 2,
  body: Uint8Array,
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<Response> => {
  const all: Record<string, string | undefined> = {
    'content-type': contentTypes[version],
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': version === 1 ? '0.1.0' : '2.0.0',
    'x-license-key': licenseKey,
    ...headers,
  };
  return fetch(`${oiq.http}/api/v1/prom/write`, {
    method: 'POST',
    headers: Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    body: new Uint8Array(body),
  });
};

export const snappy = (body: Uint8Array): Buffer => compressSnappy(body);
