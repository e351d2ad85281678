/**
 * A closed-loop load generator in its own process, so that it can be pinned separately. `connections` senders post the
 * given bodies over HTTP/1.1 keep-alive (or send GETs without bodies), or as gRPC export calls on HTTP/2, for
 * `seconds`. Prints one JSON line. `runLoad` runs it; its standard input is the job.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { fileURLToPath } from 'node:url';

export interface LoadJob {
  readonly url: string;
  readonly grpc?: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Files with one body each. Without files, requests are GETs. */
  readonly files: readonly string[];
  readonly recordsPerRequest: number;
  readonly connections: number;
  readonly seconds: number;
  /** The number of requests after which the run ends, instead of a time. */
  readonly requests?: number;
  /** Total requests per second; by default as fast as responses arrive. */
  readonly rate?: number;
}

export interface LoadResult {
  readonly acknowledged: number;
  readonly failed: number;
  readonly records: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly firstFailure: string;
}

/** Runs a job in a process pinned to `cpu`. */
export const runLoad = (job: LoadJob, cpu?: number): Promise<LoadResult> =>
  new Promise((resolve, reject) => {
    const self = [process.execPath, '--disable-warning=ExperimentalWarning', fileURLToPath(import.meta.url)];
    const [command = '', ...args] = cpu === undefined ? self : ['taskset', '-c', String(cpu), ...self];
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(JSON.parse(text) as LoadResult) : reject(new Error(`the load generator ended with ${code}`)),
    );
    child.stdin.end(JSON.stringify(job));
  });

type Send = (body: Buffer | undefined) => Promise<string>;

/** Returns an empty string for an acknowledgement, otherwise a description of the response. */
const overHttp = ({ url, headers, connections }: LoadJob): Send => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return (body) =>
    new Promise((resolve) => {
      const request = httpRequest(
        url,
        body === undefined
          ? { agent, headers }
          : { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } },
        (response) => {
          const status = response.statusCode ?? 0;
          let apiResponse = '';
          response.on('data', (part: Buffer) => {
            if (status >= 300) apiResponse += part.toString();
          });
          response.on('end', () => resolve(status < 300 ? '' : `${status} ${apiResponse}`));
        },
      );
      request.on('error', (error) => resolve(error.message));
      request.end(body);
    });
};

const overGrpc = ({ url, headers, connections }: LoadJob): Send => {
  const { origin, pathname } = new URL(url);
  const sessions: ClientHttp2Session[] = Array.from({ length: connections }, () => connect(origin));
  let requestIndex = 0;
  return (body) =>
    new Promise((resolve) => {
      const session = sessions[requestIndex++ % sessions.length] as ClientHttp2Session;
      const stream = session.request({
        ':method': 'POST',
        ':path': pathname,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...headers,
      });
      let status = '';
      stream.on('response', (head) => {
        status = String(head['grpc-status'] ?? status);
      });
      stream.on('trailers', (trailers) => {
        status = String(trailers['grpc-status'] ?? status);
      });
      stream.on('data', () => undefined);
      stream.on('error', (error) => resolve(error.message));
      stream.on('end', () => resolve(status === '0' ? '' : `grpc-status ${status}`));
      if (body === undefined) return stream.end();
      const head = Buffer.alloc(5);
      head.writeUInt32BE(body.length, 1);
      stream.end(Buffer.concat([head, body]));
    });
};

const work = async (job: LoadJob): Promise<LoadResult> => {
  const all = job.files.map((file) => readFileSync(file));
  const send = job.grpc === true ? overGrpc(job) : overHttp(job);
  const latencies: number[] = [];
  let acknowledged = 0;
  let failed = 0;
  let firstFailure = '';
  let next = 0;
  const startedMs = performance.now();
  const until = startedMs + job.seconds * 1_000;
  const more = (): boolean => (job.requests === undefined ? performance.now() < until : next < job.requests);
  const sender = async (): Promise<void> => {
    while (more()) {
      const number = next++;
      if (job.rate !== undefined) {
        const due = startedMs + (number / job.rate) * 1_000 - performance.now();
        if (due > 1) await new Promise((resolve) => setTimeout(resolve, due));
      }
      const started = performance.now();
      const failure = await send(all[number % all.length]);
      latencies.push(performance.now() - started);
      if (failure === '') acknowledged++;
      else {
        failed++;
        firstFailure ||= failure;
      }
    }
  };
  await Promise.all(Array.from({ length: job.connections }, sender));
  latencies.sort((left, right) => left - right);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    acknowledged,
    failed,
    records: acknowledged * job.recordsPerRequest,
    seconds: (performance.now() - startedMs) / 1_000,
    p50: at(0.5),
    p99: at(0.99),
    firstFailure,
  };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const job = JSON.parse(readFileSync(0, 'utf8')) as LoadJob;
  process.stdout.write(JSON.stringify(await work(job)));
  process.exit(0);
}
