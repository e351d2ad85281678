/** Targets with a known state, and functions that run checks against them. */
import type { lookup } from 'node:dns';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { RateLimiter } from '../../../probes/pace.ts';
import { type RunResult, runCheck } from '../../../probes/run-check.ts';
import type { ChromiumOptions } from '../../../probes/runner.ts';
import { createEgressPolicy } from '../../../runtime/egress-policy.ts';
import type { ProbeVariable } from '../../../schemas/synthetic-work.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { stretched } from '../../waiting.ts';

const listening = async (t: ExecutionContext, server: Server, host: string): Promise<number> => {
  await new Promise<void>((ready) => server.listen(0, host, ready));
  t.teardown(() => {
    server.close();
    if ('closeAllConnections' in server) (server as unknown as { closeAllConnections(): void }).closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
};

export const serveHttp = (t: ExecutionContext, listener: RequestListener, host = '127.0.0.1'): Promise<number> =>
  listening(t, createServer(listener), host);

export const serveSocket = (
  t: ExecutionContext,
  onSocket: (socket: Socket) => void,
  host = '127.0.0.1',
): Promise<number> => {
  const open = new Set<Socket>();
  t.teardown(() => {
    for (const socket of open) socket.destroy();
  });
  const server = createSocketServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  return listening(t, server, host);
};

/** Names and the addresses of each lookup in turn. Other names are unknown. */
export const resolving = (names: Readonly<Record<string, readonly (readonly string[])[]>>): typeof lookup => {
  const requestCounts = new Map<string, number>();
  const resolve = (name: string, _: object, done: (error: Error | null, addresses: object[]) => void): void => {
    const index = requestCounts.get(name) ?? 0;
    requestCounts.set(name, index + 1);
    const responses = names[name];
    const addresses = responses?.[Math.min(index, responses.length - 1)];
    const unknown = Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    setImmediate(() =>
      addresses === undefined
        ? done(unknown, [])
        : done(
            null,
            addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          ),
    );
  };
  return resolve as unknown as typeof lookup;
};

/** A timeout, which is longer on a busy machine. */
export const soon = (ms: number): string => `${Math.min(Math.ceil(stretched(ms)), 60_000)}ms`;

interface Around {
  readonly allowed?: readonly string[];
  readonly names?: Parameters<typeof resolving>[0];
  readonly variables?: Readonly<Record<string, ProbeVariable>>;
  readonly pace?: RateLimiter;
  readonly chromium?: ChromiumOptions;
  readonly signal?: AbortSignal;
  readonly hasExchanges?: boolean;
}

/** Runs a check, without retries by default. */
export const run = (
  settings: object,
  {
    allowed = ['127.0.0.0/8'],
    names = {},
    variables = {},
    pace = new RateLimiter(),
    chromium = { program: '/none/chromium', hasSandbox: true },
    signal = new AbortController().signal,
    hasExchanges = false,
  }: Around = {},
): Promise<RunResult> => {
  const check = CheckFields.parse({ name: 'c', timeout: soon(5000), retries: { count: 0 }, ...settings });
  const egressPolicy = createEgressPolicy({
    allowedNetworks: allowed,
    setting: 'OIQ_PROBE_NETWORKS',
    resolve: resolving(names),
  });
  const work = { check: { ...check, id: 'c1' }, variables, location: 'here' };
  return runCheck(work, { egressPolicy, pace, chromium, signal, hasExchanges });
};

export const runHttp = (steps: readonly object[], around: Around = {}, more: object = {}): Promise<RunResult> =>
  run({ type: 'http', http: { steps }, ...more }, around);
